/* Every family of metrics: a file src/metrics/<name>.c that ends with METRIC_FAMILY(name), and a word
 * here. */
#ifndef DSE_METRICS_METRIC_LIST_H
#define DSE_METRICS_METRIC_LIST_H

#define METRIC_FAMILY_LIST(X)                                                                                \
    X(bubble)                                                                                                \
    X(calls)                                                                                                 \
    X(communication)                                                                                         \
    X(et)                                                                                                    \
    X(experts)                                                                                               \
    X(fsdp)                                                                                                  \
    X(guide_overlap)                                                                                         \
    X(guide_straggler)                                                                                       \
    X(guide_throughput)                                                                                      \
    X(kernel_classes)                                                                                        \
    X(kernels)                                                                                               \
    X(latency)                                                                                               \
    X(later_bandwidth)                                                                                       \
    X(later_comm)                                                                                            \
    X(later_kernels)                                                                                         \
    X(later_memory)                                                                                          \
    X(later_overlap)                                                                                         \
    X(later_straggler)                                                                                       \
    X(later_time)                                                                                            \
    X(memory)                                                                                                \
    X(mfu)                                                                                                   \
    X(overlap)                                                                                               \
    X(sm)                                                                                                    \
    X(steps)                                                                                                 \
    X(straggler)                                                                                             \
    X(throughput)                                                                                            \
    X(totals)                                                                                                \
    X(tpu)                                                                                                   \
    X(tpu_hockney)                                                                                           \
    X(traffic)                                                                                               \
    X(training_phases)                                                                                       \
    X(utilization)                                                                                           \
    X(window)

#endif
