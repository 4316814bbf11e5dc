"""Rows in blocks on several devices: which block is whose, and what passes between them.

The rows of a least-squares problem are cut into a fixed number of equal blocks, each of which
belongs to one device. Everything that concerns rows is computed block by block, by a program whose
shapes are those of one block, and what blocks have to tell each other (triangles, vectors as long
as the unknowns, sums of squares) is gathered by all and added up in the order of the blocks. So no
bit depends on how many devices, or processes, share the blocks.

Only gathering is asked of the network: other ways to add up have an order of their own, and the
reduce-scatter of gloo has returned wrong numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Float, Inexact

from tengbc.errors import LostProcessError, UsageError

Array = np.ndarray
ROWS = PartitionSpec("blocks")
EVERYWHERE = PartitionSpec()


class RowBlocks:
    """`count` blocks of rows on `devices` devices, of which this process has some.

    Arrays of rows that this process holds have shape (own, rows of a block, …).
    """

    def __init__(self, count: int, devices: int):
        there = sorted(jax.devices(), key=lambda device: (device.process_index, device.id))
        processes = jax.process_count()
        if count % devices or devices % processes:
            raise UsageError(
                f"devices is {devices}, but {count} blocks of rows have to be shared out evenly "
                f"among devices, and these among {processes} processes; choose a divisor of "
                f"{count} and multiple of {processes}, or other blocks."
            )
        if devices > len(there) or (processes > 1 and devices != len(there)):
            raise UsageError(
                f"devices is {devices}, but JAX sees {len(there)}; on a CPU `tengbc run --devices "
                f"{devices}` makes as many, and so does jax.config.update('jax_num_cpu_devices', "
                f"{devices}) before JAX is first used."
            )
        self.count, self.devices = count, devices
        self.mesh = Mesh(np.array(there[:devices]), ("blocks",))
        self.own = count // processes
        first = self.own * jax.process_index()
        self.range = range(first, first + self.own)

    def __reduce__(self):
        return RowBlocks, (self.count, self.devices)

    def size(self, rows: int) -> int:
        """Rows of a block."""
        return max(1, -(-rows // self.count))

    def cut(self, array: Inexact[Array, "n ..."]) -> Inexact[Array, "own k ..."]:
        """This process's blocks of an array of all rows, the last row repeated to fill them."""
        size = self.size(len(array))
        rows = np.arange(self.range.start * size, self.range.stop * size)
        return array[np.minimum(rows, len(array) - 1)].reshape(self.own, size, *array.shape[1:])

    def real(self, rows: int) -> Float[Array, "own k"]:
        """1 for rows that there are, 0 for those that fill the blocks."""
        size = self.size(rows)
        there = np.arange(self.range.start * size, self.range.stop * size) < rows
        return there.reshape(self.own, size).astype(np.float64)

    def placed(self, array: Array) -> jax.Array:
        """Blocks of this process on its devices, as part of an array of all blocks."""
        with jax.enable_x64(True):
            return jax.make_array_from_process_local_data(NamedSharding(self.mesh, ROWS), array)

    def program(self, function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """(shared, rows) ↦ function(shared, rows of a block) for every block; results stay there.

        `shared` is the same for all blocks and processes. The loop over the blocks of a device has
        a length that the compiler does not know: it cannot unroll it, and so the program of one
        block is the same however many there are.
        """

        def on_device(count, shared, rows):
            block = lambda i: jax.tree.map(
                lambda array: jax.lax.dynamic_index_in_dim(array, i, keepdims=False), rows
            )
            own = jax.tree.leaves(rows)[0].shape[0]
            shapes = jax.eval_shape(lambda: function(shared, block(0)))
            held = jax.tree.map(lambda s: jnp.zeros((own, *s.shape), s.dtype), shapes)

            def one(i, held):
                found = function(shared, block(i))
                put = lambda h, f: jax.lax.dynamic_update_index_in_dim(h, f, i, 0)
                return jax.tree.map(put, held, found)

            return jax.lax.fori_loop(0, count, one, held)

        everywhere = functools.partial(
            jax.shard_map, mesh=self.mesh, in_specs=(EVERYWHERE, EVERYWHERE, ROWS), check_vma=False
        )
        compiled = jax.jit(everywhere(on_device, out_specs=ROWS))
        per_device = np.int32(self.count // self.devices)

        def run(shared, rows):
            with jax.enable_x64(True):
                rows = jax.tree.map(lambda a: self.placed(a) if isinstance(a, Array) else a, rows)
                return compiled(per_device, shared, rows)

        return run

    def local(self, array: jax.Array) -> Array:
        """What this process has of an array of all blocks."""
        shards = {shard.index[0].start or 0: shard.data for shard in array.addressable_shards}
        return np.concatenate([np.asarray(shards[start]) for start in sorted(shards)])

    def gather(self, arrays: Any) -> Any:
        """Arrays of all blocks, whole, in every process; a process that is lost is an error."""
        if jax.process_count() == 1:
            return jax.tree.map(np.asarray, arrays)
        return jax.tree.map(lambda a: np.concatenate(gathered(self.local(a))), arrays)

    def sum(self, array: Inexact[Array, "own ..."] | jax.Array) -> Any:
        """The sum over all blocks, in their order; of this process's parts or of placed ones."""
        parts = self.gather(self.placed(array) if isinstance(array, Array) else array)
        return functools.reduce(np.add, parts)

    def norm(self, array: Inexact[Array, "own ..."]) -> float:
        """The 2-norm over all rows of all blocks."""
        squares = np.array([np.vdot(block, block).real for block in array])
        return float(np.sqrt(self.sum(squares)))


TRAFFIC = {"exchanges": 0, "bytes": 0}
"""How often processes have exchanged something, and the bytes this one has received."""


def gathered(array: Array) -> Array:
    """The arrays of all processes, in their order; a process that is lost is an error.

    One device of each process takes part: what passes is small, and few hands are faster.
    """
    mesh, gather = _between_processes()
    try:
        with jax.enable_x64(True):
            mine = jax.make_array_from_process_local_data(NamedSharding(mesh, ROWS), array[None])
            found = np.asarray(gather(mine))
    except jax.errors.JaxRuntimeError as error:
        said = " ".join(str(error).split())[:120].rstrip(".")
        raise LostProcessError(
            f"another process of this run is gone ({said}), so this one has ended; start them "
            f"again, with `tengbc resume` where there is a run directory."
        ) from None
    TRAFFIC["exchanges"] += 1
    TRAFFIC["bytes"] += found.nbytes - array.nbytes
    return found


@functools.cache
def _between_processes() -> tuple[Mesh, Callable[[jax.Array], jax.Array]]:
    first = {device.process_index: device for device in reversed(jax.devices())}
    mesh = Mesh(np.array([first[process] for process in sorted(first)]), ("blocks",))
    gather = functools.partial(jax.lax.all_gather, axis_name="blocks", tiled=True)
    specs = {"mesh": mesh, "in_specs": ROWS, "out_specs": EVERYWHERE, "check_vma": False}
    return mesh, jax.jit(jax.shard_map(gather, **specs))
