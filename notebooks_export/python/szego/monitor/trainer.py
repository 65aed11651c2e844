"""The monitor as a callback of transformers' Trainer."""
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .monitor import Monitor


def callback(monitor: "Monitor") -> Any:
    """A TrainerCallback. It watches the first forward of an observed step and nothing else, so that an exception of the
    training leaves nothing behind."""
    from transformers import TrainerCallback  # pylint: disable=import-outside-toplevel

    class MonitorCallback(TrainerCallback):
        """Tells a szego.Monitor of the steps of a training."""

        def on_train_begin(self, args, state, control, model=None, **kwargs):  # pylint: disable=unused-argument
            """The model that is trained."""
            monitor.begin(model, state.global_step, bool(getattr(args, "torch_compile", False)))

        def on_step_begin(self, args, state, control, **kwargs):  # pylint: disable=unused-argument
            """Before the first micro-batch."""
            monitor.resume(state.global_step)
            monitor.watch_next()

        def on_step_end(self, args, state, control, **kwargs):  # pylint: disable=unused-argument
            """After the update of the weights."""
            monitor.step(state.global_step)

        def on_train_end(self, args, state, control, **kwargs):  # pylint: disable=unused-argument
            """Rows that are not written yet."""
            monitor.close()

    return MonitorCallback()
