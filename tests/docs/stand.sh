# What the pages of the documentation take for given, in the current folder: sourced by run.sh before their commands.

# DIR, A, B: the traces of a run of eight A100, with the card that describes it.
for run in DIR A B; do
    mkdir $run
    "$CCLDSE" simulate --model llama-3.1-8b --system perlmutter_a100_40gb --npus 8 --set profile=stage --set batch=8 --set sequence=1024 --dp 2 --tp 4 \
        --timeline $run/rank0_trace.json >/dev/null
    cat >$run/workload_card.yaml <<END
version: 1
workload:
  model: {phase: training, moe: false, granularity: model_fwd_bwd_pass, model_family: llama-3.1-8b, precision: bf16}
  data: {batch_size: 8, seq_len: 1024}
  hardware:
    network_topo: {topology: switch, bandwidth_gbps: [200, 2400]}
    xpu_spec: {type: GPU, model: nvidia_a100, total_count: 8, count_per_node: 4}
Model-executor:
  framework: {name: megatron-lm}
  model_plan_parallelization: {dp_replicate: 2, dp_shard: 1, tp: 4, pp: 1, cp: 1, ep: 1, pp_mb: 4}
metric_source: {traces: [json]}
END
done

# Programs that take the options of STAGE and ASTRA-sim: our own, by links and names of theirs.
mkdir PATH
ln -s "$CCLDSE" PATH/AstraSim_Analytical_Congestion_Unaware
printf '#!/bin/sh\nexec "%s" stage "$@"\n' "$CCLDSE" >stage
chmod +x stage

# What a node says of itself, and a model's config.
nodes=${CCLDSE_NODES:?}
cp "$nodes/hgx_h100.txt" topo.txt
cp "$nodes/a100_4.xml" node.xml

# A recording of PyTorch's profiler, with what the host launched.
cp -r "$nodes/../traces/launches_two_ranks" KINETO
cat >config.json <<END
{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
 "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
 "max_position_embeddings": 8192, "rms_norm_eps": 1e-05, "rope_theta": 500000.0, "hidden_act": "silu",
 "attention_bias": false, "tie_word_embeddings": false, "torch_dtype": "bfloat16"}
END
