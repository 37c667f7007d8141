"""Error texts as PyTorch, Lightning, Transformers and others write them, and where they go."""

import pytest

from sickbay.contract.event import FailureKind
from sickbay.contract.sign import DEFAULT_OF_KIND, Category
from sickbay.contract.symptoms import SIGNS
from sickbay.contract.taxonomy import CATEGORIES, Layer, Stage, classify, kind_of

_WRAPPED = """Caught {type} in DataLoader worker process 3.
Original Traceback (most recent call last):
  File "/venv/torch/utils/data/_utils/worker.py", line 349, in _worker_loop
    data = fetcher.fetch(index)
  File "/work/train.py", line 20, in __getitem__
    return self.transform(Image.open(path))
{type}: {message}
"""

CASES: tuple[tuple[str, str, Category], ...] = (
    # Loading
    ("PIL.UnidentifiedImageError", "cannot identify image file '/data/a.jpg'", Category.LOADING),
    ("OSError", "image file is truncated (14 bytes not processed)", Category.LOADING),
    ("SyntaxError", "broken PNG file (chunk b'IDAT')", Category.LOADING),
    (
        "PIL.Image.DecompressionBombError",
        (
            "Image size (400000000 pixels) exceeds limit of 178956970 pixels, could be "
            "decompression bomb DOS attack."
        ),
        Category.LOADING,
    ),
    ("FileNotFoundError", "[Errno 2] No such file or directory: 'a.jpg'", Category.LOADING),
    (
        "RuntimeError",
        (
            "stack expects each tensor to be equal size, but got [3, 224, 224] at entry 0 and "
            "[1, 224, 224] at entry 5"
        ),
        Category.LOADING,
    ),
    (
        "TypeError",
        (
            "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
            "found <class 'PIL.JpegImagePlugin.JpegImageFile'>"
        ),
        Category.LOADING,
    ),
    (
        "ValueError",
        "num_samples should be a positive integer value, but got num_samples=0",
        Category.LOADING,
    ),
    (
        "RuntimeError",
        "DataLoader worker (pid 4711) is killed by signal: Segmentation fault. ",
        Category.LOADING,
    ),
    ("RuntimeError", "DataLoader worker (pid(s) 12, 13) exited unexpectedly", Category.LOADING),
    ("RuntimeError", "received 0 items of ancdata", Category.LOADING),
    ("RuntimeError", "Too many open files. Communication with the workers", Category.LOADING),
    (
        "UnicodeDecodeError",
        "'utf-8' codec can't decode byte 0xe9 in position 10: invalid continuation byte",
        Category.LOADING,
    ),
    (
        "json.decoder.JSONDecodeError",
        "Expecting ',' delimiter: line 3 column 5 (char 40)",
        Category.LOADING,
    ),
    (
        "pandas.errors.ParserError",
        "Error tokenizing data. C error: Expected 3 fields in line 5, saw 4",
        Category.LOADING,
    ),
    (
        "datasets.exceptions.DatasetGenerationError",
        "An error occurred while generating the dataset",
        Category.LOADING,
    ),
    (
        "ValueError",
        "Input X contains NaN.\nLogisticRegression does not accept missing values",
        Category.LOADING,
    ),
    # Drift and leakage
    ("ValueError", "y contains previously unseen labels: ['lynx']", Category.DRIFT),
    ("ValueError", "Found unknown categories ['x'] in column 0 during transform", Category.DRIFT),
    ("RuntimeWarning", "Dataset drift detected: 7 of 12 columns", Category.DRIFT),
    ("AssertionError", "data leakage: 12 files in two splits", Category.LEAKAGE),
    ("AssertionError", "overlap between train and validation: 40 ids", Category.LEAKAGE),
    # Shapes, classes and types
    (
        "RuntimeError",
        "mat1 and mat2 shapes cannot be multiplied (32x512 and 256x10)",
        Category.SHAPE,
    ),
    (
        "RuntimeError",
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
        Category.SHAPE,
    ),
    (
        "ValueError",
        "Expected input batch_size (32) to match target batch_size (64).",
        Category.SHAPE,
    ),
    (
        "RuntimeError",
        (
            "Given groups=1, weight of size [64, 3, 7, 7], expected input[8, 1, 224, 224] to have "
            "3 channels, but got 1 channels instead"
        ),
        Category.SHAPE,
    ),
    ("RuntimeError", "shape '[32, 784]' is invalid for input of size 1000", Category.SHAPE),
    (
        "RuntimeError",
        "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [784]",
        Category.SHAPE,
    ),
    (
        "RuntimeError",
        (
            "Sizes of tensors must match except in dimension 1. Expected size 8 but got size 7 for "
            "tensor number 1 in the list."
        ),
        Category.SHAPE,
    ),
    (
        "ValueError",
        "Target size (torch.Size([32])) must be the same as input size (torch.Size([32, 1]))",
        Category.SHAPE,
    ),
    ("RuntimeError", "expected scalar type Long but found Float", Category.SHAPE),
    (
        "RuntimeError",
        "mat1 and mat2 must have the same dtype, but got Half and Float",
        Category.SHAPE,
    ),
    (
        "ValueError",
        "Expected more than 1 value per channel when training, got input size [1, 64]",
        Category.SHAPE,
    ),
    (
        "ValueError",
        (
            "Unable to create tensor, you should probably activate truncation and/or padding with "
            "'padding=True' 'truncation=True' to have batched tensors with the same length."
        ),
        Category.SHAPE,
    ),
    (
        "ValueError",
        "operands could not be broadcast together with shapes (3,) (4,)",
        Category.SHAPE,
    ),
    ("IndexError", "Target 10 is out of bounds.", Category.SHAPE),
    ("IndexError", "index out of range in self", Category.SHAPE),
    (
        "torch.AcceleratorError",
        (
            "CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously "
            "reported at some other API call"
        ),
        Category.SHAPE,
    ),
    # Initialisation
    (
        "RuntimeError",
        (
            "Error(s) in loading state_dict for ResNet:\n\tsize mismatch for fc.weight: copying a "
            "param with shape torch.Size([1000, 512]) from checkpoint, the shape in current model "
            "is torch.Size([10, 512])."
        ),
        Category.INITIALISATION,
    ),
    (
        "RuntimeError",
        "PytorchStreamReader failed reading zip archive: failed finding central directory",
        Category.INITIALISATION,
    ),
    (
        "_pickle.UnpicklingError",
        "Weights only load failed. This file can still be loaded",
        Category.INITIALISATION,
    ),
    (
        "RuntimeError",
        "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False.",
        Category.INITIALISATION,
    ),
    (
        "OSError",
        "bert-tiny is not a local folder and is not a valid model identifier listed",
        Category.INITIALISATION,
    ),
    (
        "RuntimeError",
        (
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 "
            "and cpu!"
        ),
        Category.INITIALISATION,
    ),
    (
        "RuntimeError",
        (
            "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the "
            "same"
        ),
        Category.INITIALISATION,
    ),
    ("AssertionError", "Torch not compiled with CUDA enabled", Category.INITIALISATION),
    (
        "RuntimeError",
        "CUDA error: no kernel image is available for execution on the device",
        Category.INITIALISATION,
    ),
    (
        "ValueError",
        (
            "Default process group has not been initialized, please make sure to call "
            "init_process_group."
        ),
        Category.INITIALISATION,
    ),
    (
        "torch.distributed.DistNetworkError",
        (
            "The server socket has failed to listen on any local network address. port: 29500, "
            "useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use"
        ),
        Category.INITIALISATION,
    ),
    ("ValueError", "optimizer got an empty parameter list", Category.INITIALISATION),
    # Gradients
    (
        "RuntimeError",
        "element 0 of tensors does not require grad and does not have a grad_fn",
        Category.CUT_OFF,
    ),
    (
        "RuntimeError",
        (
            "Trying to backward through the graph a second time (or directly access saved tensors "
            "after they have already been freed)."
        ),
        Category.CUT_OFF,
    ),
    (
        "RuntimeError",
        (
            "one of the variables needed for gradient computation has been modified by an inplace "
            "operation: [torch.FloatTensor [64]] is at version 3; expected version 2 instead."
        ),
        Category.CUT_OFF,
    ),
    (
        "RuntimeError",
        (
            "Expected to have finished reduction in the prior iteration before starting a new one. "
            "This error indicates that your module has parameters that were not used in producing "
            "loss."
        ),
        Category.CUT_OFF,
    ),
    ("AssertionError", "No inf checks were recorded for this optimizer.", Category.CUT_OFF),
    (
        "RuntimeError",
        "Function 'MulBackward0' returned nan values in its 0th output.",
        Category.GRADIENT,
    ),
    (
        "RuntimeError",
        (
            "The total norm of order 2.0 for gradients from `parameters` is non-finite, so it "
            "cannot be clipped."
        ),
        Category.GRADIENT,
    ),
    (
        "ValueError",
        "The loss returned in `training_step` is nan or inf.",
        Category.GRADIENT,
    ),
    (
        "FloatingPointError",
        "Loss became infinite or NaN at iteration=120!",
        Category.GRADIENT,
    ),
    ("RuntimeError", "Train loss contained NaN.", Category.GRADIENT),
    (
        "RuntimeError",
        "probability tensor contains either `inf`, `nan` or element < 0",
        Category.GRADIENT,
    ),
    (
        "ValueError",
        (
            "Expected parameter loc (Tensor of shape (1, 3)) of distribution Normal(loc: "
            "torch.Size([1, 3])) to satisfy the constraint Real(), but found invalid values:"
        ),
        Category.GRADIENT,
    ),
    (
        "Exception",
        "Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.",
        Category.GRADIENT,
    ),
    # Memory
    (
        "torch.OutOfMemoryError",
        "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB",
        Category.MEMORY,
    ),
    ("RuntimeError", "MPS backend out of memory (MPS allocated: 8.00 GB)", Category.MEMORY),
    (
        "RuntimeError",
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        Category.MEMORY,
    ),
    (
        "RuntimeError",
        "[enforce fail at alloc_cpu.cpp:116] err == 0. DefaultCPUAllocator: can't allocate memory",
        Category.MEMORY,
    ),
    (
        "numpy._core._exceptions._ArrayMemoryError",
        "Unable to allocate 7.45 GiB for an array with shape (1000000000,)",
        Category.MEMORY,
    ),
    ("MemoryError", "", Category.MEMORY),
    (
        "RuntimeError",
        "DataLoader worker (pid 4711) is killed by signal: Killed. ",
        Category.MEMORY,
    ),
    (
        "RuntimeError",
        (
            "DataLoader worker (pid 99) is killed by signal: Bus error. It is possible that "
            "dataloader's workers are out of shared memory. Please try to raise your shared memory "
            "limit."
        ),
        Category.MEMORY,
    ),
    # Learning rate
    ("ValueError", "Invalid learning rate: -0.1", Category.RATE),
    (
        "ValueError",
        "Tried to step 1002 times. The specified number of total steps is 1000",
        Category.RATE,
    ),
    (
        "KeyError",
        "\"param 'initial_lr' is not specified in param_groups[0] when resuming an optimizer\"",
        Category.RATE,
    ),
    # Deployment
    (
        "torch.onnx.errors.UnsupportedOperatorError",
        "Exporting the operator 'aten::fft_rfft' to ONNX opset version 17 is not supported.",
        Category.CONVERSION,
    ),
    (
        "torch.jit.frontend.NotSupportedError",
        "Compiled functions can't take variable number of arguments",
        Category.CONVERSION,
    ),
    ("torch._dynamo.exc.Unsupported", "Data-dependent branching", Category.CONVERSION),
    (
        "NotImplementedError",
        "PyTorch convert function for op 'unfold' not implemented.",
        Category.CONVERSION,
    ),
    (
        "AssertionError",
        "Tensor-likes are not close!\n\nMismatched elements: 5 / 10 (50.0%)",
        Category.PRECISION,
    ),
    ("AssertionError", "\nNot equal to tolerance rtol=0.001, atol=1e-05", Category.PRECISION),
    (
        "ValueError",
        (
            "Outputs values doesn't match between reference model and ONNX exported model: Got max "
            "absolute difference of: 0.14"
        ),
        Category.PRECISION,
    ),
)


@pytest.mark.parametrize(("kind", "message", "category"), CASES)
def test_a_known_error_is_placed(kind: str, message: str, category: Category) -> None:
    verdict = classify(kind_of(kind, message, ""), kind, message, "")
    assert verdict is not None
    assert verdict.category is category
    assert verdict.layer is CATEGORIES[category].layer


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("KeyError", "'images'"),
        ("AttributeError", "'NoneType' object has no attribute 'size'"),
        ("RuntimeError", "There appear to be 1 leaked semaphore objects to clean up at shutdown"),
        ("ValueError", "batch_size must be positive"),
        ("KeyboardInterrupt", ""),
        ("AssertionError", "we train on the same set of shards"),
    ],
)
def test_an_error_without_a_sign_is_not_placed(kind: str, message: str) -> None:
    assert kind_of(kind, message, "") is FailureKind.OTHER
    assert classify("other", kind, message, "") is None


@pytest.mark.parametrize(
    ("kind", "message", "category"),
    [
        ("KeyError", "'label'", Category.LOADING),
        ("RuntimeError", "CUDA out of memory. Tried to allocate 2.00 MiB", Category.MEMORY),
        ("ValueError", "operands could not be broadcast together", Category.LOADING),
        ("OSError", "image file is truncated (0 bytes not processed)", Category.LOADING),
    ],
)
def test_what_a_worker_raises_is_not_the_models_fault(
    kind: str, message: str, category: Category
) -> None:
    wrapped = _WRAPPED.format(type=kind, message=message)
    assert kind_of(kind, wrapped, "") is FailureKind.LOADER_ERROR
    verdict = classify("loader-error", kind, wrapped, "")
    assert verdict is not None
    assert verdict.category is category


def test_without_workers_the_traceback_tells_that_the_loader_raised() -> None:
    trace = 'File "/venv/torch/utils/data/_utils/fetch.py", line 54, in fetch\nKeyError: 3'
    assert kind_of("KeyError", "3", trace) is FailureKind.LOADER_ERROR


@pytest.mark.parametrize(
    ("kind", "message", "expected"),
    [
        ("IndexError", "Target 10 is out of bounds.", FailureKind.LABEL_ASSERT),
        ("RuntimeError", "shape '[2]' is invalid for input of size 3", FailureKind.SHAPE_MISMATCH),
        ("torch.OutOfMemoryError", "CUDA out of memory.", FailureKind.OUT_OF_MEMORY),
        ("RuntimeError", "Loss is nan, stopping training", FailureKind.NON_FINITE_LOSS),
        ("RuntimeError", "Function 'X' returned nan values", FailureKind.OTHER),
        ("RuntimeError", "DataLoader worker (pid 1) is killed by signal: Killed. ",
         FailureKind.WORKER_KILLED),
    ],
)  # fmt: skip
def test_an_exception_has_a_kind(kind: str, message: str, expected: FailureKind) -> None:
    assert kind_of(kind, message, "") is expected


def test_every_kind_of_failure_but_other_is_placed_without_a_text() -> None:
    for kind in FailureKind:
        assert (classify(kind, "", "", "") is None) is (kind is FailureKind.OTHER), kind


def test_the_stage_is_where_the_traceback_says() -> None:
    trace = 'File "train.py", line 3, in validation_step\n    loss = self.loss(x)'
    verdict = classify("out-of-memory", "torch.OutOfMemoryError", "CUDA out of memory.", trace)
    assert verdict is not None
    assert verdict.stage is Stage.EVALUATE


def test_there_are_five_stages_four_layers_and_eleven_categories_all_with_advice() -> None:
    assert (len(Stage), len(Layer), len(Category)) == (5, 4, 11)
    assert set(CATEGORIES) == set(Category)
    assert {advice.layer for advice in CATEGORIES.values()} == set(Layer)
    for advice in CATEGORIES.values():
        assert all(text.endswith(".") for text in (advice.symptom, advice.look, advice.do))


def test_every_sign_is_shown_by_a_case_and_every_default_is_a_kind() -> None:
    texts = [f"{kind}: {message}" for kind, message, _ in CASES]
    for sign in SIGNS:
        assert any(sign.pattern.search(text) for text in texts), sign.pattern.pattern
    assert set(DEFAULT_OF_KIND) == set(FailureKind) - {FailureKind.OTHER}
