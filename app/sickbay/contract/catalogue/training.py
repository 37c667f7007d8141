"""What training jobs report of samples; each is also a kind of failure."""

from sickbay.contract.catalogue.row import Row

ROWS: tuple[Row, ...] = (
    Row(
        "training.loader-error",
        "block",
        "The job's own loader raised on this sample.",
        "Read the exception: mend the file or the loader's transform, or leave it out.",
    ),
    Row(
        "training.worker-killed",
        "block",
        "A loader's process was killed while it fetched this sample.",
        "Look for its size and for the system's out-of-memory messages, or leave it out.",
    ),
    Row(
        "training.non-finite-input",
        "block",
        "It became NaN or infinite on its way into the model.",
        "Look at its values and at the transform that divides or takes a logarithm.",
    ),
    Row(
        "training.non-finite-label",
        "block",
        "Its label is NaN or infinite.",
        "Correct the label, or leave it out.",
    ),
    Row(
        "training.non-finite-loss",
        "block",
        "The loss of a batch with this sample was NaN or infinite.",
        "Read the verdict; where the sample does it alone, mend it or leave it out.",
    ),
    Row(
        "training.non-finite-gradient",
        "block",
        "A gradient of a batch with this sample was NaN or infinite.",
        "Read the verdict; else look at the learning rate and at mixed precision.",
    ),
    Row(
        "training.loss-spike",
        "block",
        "The loss of a batch with this sample was far above those before.",
        "Look at the picture and its label beside the curve, then keep it or leave it out.",
    ),
    Row(
        "training.shape-mismatch",
        "block",
        "It came out of the loader in another shape or type than the rest of the batch.",
        "Convert it, or resize it in the transform.",
    ),
    Row(
        "training.label-assert",
        "block",
        "Its label is outside of the classes that the loss knows.",
        "Correct the label, or raise the number of classes.",
    ),
    Row(
        "training.out-of-memory",
        "block",
        "Memory ran out on a batch with this sample.",
        "Look for an unusual size, or make the batch smaller.",
    ),
    Row(
        "training.other",
        "block",
        "The job failed on a batch with this sample.",
        "Read the exception on the run's page.",
    ),
)
