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
    from torch.distributed.device_mesh import init_device_mesh
except (ImportError, ValueError) as missing:  # PyTorch 1.13's FSDP has dataclasses that Python 3.11 refuses
    print("no shards:", str(missing).replace("\\n", " "))
else:
    nn = torch.nn
    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
                setattr(self, name, nn.Linear(8, 8, bias=False))
        def forward(self, x, watch):
            q, k, v = (part(x).unflatten(-1, (2, 4)).transpose(1, 2) for part in (self.q_proj, self.k_proj, self.v_proj))
            if watch:
                watch.observe(q, k)
            return self.o_proj(nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.self_attn, self.input_layernorm = Attention(), nn.LayerNorm(8, elementwise_affine=True, bias=False)
        def forward(self, x, watch):
            return x + self.self_attn(self.input_layernorm(x), watch)
    class Body(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed_tokens, self.layers = nn.Embedding(50, 8), nn.ModuleList([Layer()])
    class Model(nn.Module):
        config = dict(model_type="llama", vocab_size=50, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
                      num_key_value_heads=2, intermediate_size=8, rms_norm_eps=1e-5, rope_theta=10000.0, max_position_embeddings=64)
        def __init__(self):
            super().__init__()
            self.model = Body()
        def forward(self, tokens, watch):
            x = self.model.embed_tokens(tokens)
            for layer in self.model.layers:
                x = layer(x, watch)
            return x
    def train(watched, sharded):
        torch.manual_seed(7)
        model = Model().train()
        if sharded:
            mesh = init_device_mesh("cpu", (2,))
            fully_shard(model.model.layers[0], mesh=mesh)
            fully_shard(model, mesh=mesh)
        watch = szego.Monitor(model, every=1, folder=folder + ("/shards" if sharded else "/whole")) if watched else None
        torch.manual_seed(100 + rank)
        losses, optimizer = [], torch.optim.SGD(model.parameters(), 0.1)
        for _ in range(2):
            loss = model(torch.randint(0, 50, (2, 9)), watch).square().mean()
            loss.backward()
            losses.append(loss.item())
            optimizer.step(); optimizer.zero_grad()
            if watch: watch.step()
        return losses
    print("shards:", train(False, True) == train(True, True))
    train(True, False)
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
        if "no shards" in said[0]:
            print("# SKIP " + said[0].strip().splitlines()[-1])
            return
        tap.ok("shards: the training is the same, bit for bit", all("shards: True" in one for one in said), str(said))
        table = szego.load(os.path.join(rows, "shards"))["monitor_monitor"]
        tap.ok("shards: logits are seen", len(table["step"]) == 2 * 2 * 2 and np.isfinite(table["largest_logit"]).all(),
               f"{len(table['step'])} rows")
        whole = szego.load(os.path.join(rows, "whole"))["monitor_monitor"]
        tap.ok("whole weights have one", all(one.startswith("input-norm, float32") for one in whole["bound_of"]),
               str(set(whole["bound_of"])))
        tap.ok("shards: no bound, and why", all("no bound: " in one and "shard" in one for one in table["bound_of"]),
               str(set(table["bound_of"])))


main()
tap.finish()
