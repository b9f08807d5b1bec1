/* Every family of metrics: a file src/metrics/<name>.c that ends with METRIC_FAMILY(name), and a word here. */
#ifndef DSE_METRICS_METRIC_LIST_H
#define DSE_METRICS_METRIC_LIST_H

#define METRIC_FAMILY_LIST(X)                                                                                \
    X(steps)                                                                                                 \
    X(overlap) X(later_bandwidth) X(later_comm) X(later_kernels) X(later_memory) X(later_overlap)            \
        X(later_straggler) X(later_time) X(tpu) X(tpu_hockney) X(totals)

#endif
