#!/usr/bin/python3
"""szego.Monitor in two processes of torch.distributed (gloo): each has its own rows, the folder joins them, and weights
that are shards have no bound and are said. usage: test_monitor_processes.py PROGRAM"""
import os
import subprocess
import sys

from peer import PACKAGE, Tap, scratch, skip

sys.path.insert(0, PACKAGE)
try:
    import numpy as np
    import szego
    import torch
except ImportError as error:
    skip(f"{error}: NumPy and PyTorch are needed")
if not torch.distributed.is_available():
    skip("this PyTorch has no torch.distributed")

tap = Tap()

#: A process: heads of its own of two layers; then, where it is there, a model that FSDP shards.
WORKER = """
import sys, torch, warnings
sys.path.insert(0, sys.argv[4])
import szego
import torch.distributed as group
rank, folder = int(sys.argv[1]), sys.argv[3]
group.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=rank, world_size=2)
torch.set_num_threads(1)
torch.manual_seed(rank)
watch = szego.Monitor(every=2, folder=folder + "/heads")
for _ in range(3):
    for layer in range(2):
        heads = 0 if layer == 1 and rank == 1 else 2  # a layer in which this process has no heads
        q = torch.randn(1, heads, 6, 4)
        watch.observe(q, q, mask="causal", layer=layer, first_head=2 * rank)
    group.barrier()
    watch.step()
try:
    from torch.distributed.fsdp import fully_shard
    import transformers
    from torch.distributed.device_mesh import init_device_mesh
except ImportError as missing:
    print("no shards:", missing)
else:
    torch.manual_seed(7)
    config = transformers.LlamaConfig(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=32)
    def train(watched):
        torch.manual_seed(7)
        model = transformers.LlamaForCausalLM(config).train()
        mesh = init_device_mesh("cpu", (2,))
        for layer in model.model.layers:
            fully_shard(layer, mesh=mesh)
        fully_shard(model, mesh=mesh)
        watch = szego.Monitor(model, every=1, folder=folder + "/shards") if watched else None
        torch.manual_seed(100 + rank)
        losses = []
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        if watch: watch.__enter__()
        for _ in range(2):
            tokens = torch.randint(0, 50, (2, 9))
            loss = model(input_ids=tokens, labels=tokens).loss
            loss.backward()
            losses.append(loss.item())
            optimizer.step(); optimizer.zero_grad()
            if watch: watch.step()
        if watch: watch.close()
        return losses
    print("shards:", train(False) == train(True))
group.destroy_process_group()
"""


def main():
    with scratch() as folder:
        meeting, rows = os.path.join(folder, "meeting"), os.path.join(folder, "rows")
        started = [subprocess.Popen([sys.executable, "-c", WORKER, str(rank), meeting, rows, PACKAGE], stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, text=True) for rank in range(2)]
        said = [one.communicate(timeout=250)[0] for one in started]
        tap.ok("two processes end", all(one.returncode == 0 for one in started), " | ".join(one[-600:] for one in said))
        table = szego.load(os.path.join(rows, "heads"))["monitor_monitor"]
        found = sorted(zip(table["step"].tolist(), table["layer"].tolist(), table["head"].tolist(), table["rank"].tolist()))
        want = sorted((step, layer, head, head // 2) for step in (0, 2) for layer in range(2) for head in range(4)
                      if layer == 0 or head < 2)
        tap.ok("the folder joins what each process saw", found == want, str(found))
        if "shards: " not in said[0] or "no shards" in said[0]:
            print("# " + said[0].strip().splitlines()[-1])
            return
        tap.ok("shards: the training is the same, bit for bit", all("shards: True" in one for one in said), str(said))
        table = szego.load(os.path.join(rows, "shards"))["monitor_monitor"]
        tap.ok("shards: logits are seen", len(table["step"]) == 2 * 2 * 2 * 4 and np.isfinite(table["largest_logit"]).all(),
               f"{len(table['step'])} rows")
        tap.ok("shards: no bound, and why", all("no bound: " in one and "shard" in one for one in table["bound_of"]),
               str(set(table["bound_of"])))


main()
tap.finish()
