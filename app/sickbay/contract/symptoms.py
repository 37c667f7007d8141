"""What PyTorch, Lightning, Transformers and others say when something is wrong, and what it means.

Each sign is matched against ``type: message``; the first one decides, so that the special stand
above the general.
"""

from sickbay.contract.event import FailureKind
from sickbay.contract.sign import Category, Sign, says

SIGNS: tuple[Sign, ...] = (
    Sign(
        Category.LOADING,
        FailureKind.LOADER_ERROR,
        says(
            r"in DataLoader worker process \d",
            r"UnidentifiedImageError|cannot identify image file",
            r"image file is truncated|broken PNG file|broken data stream|Truncated File Read",
            r"DecompressionBomb",
            r"Error opening .*\.(?:wav|flac|mp3|ogg)|LibsndfileError|Invalid data found when proc",
            r"UnicodeDecodeError|JSONDecodeError|Error tokenizing data|Parquet magic bytes",
            r"DatasetGenerationError|An error occurred while generating the dataset",
            r"BadZipFile|tarfile\.\w+Error|truncated file|Ran out of input|Corrupt JPEG",
        ),
        symptom="A sample cannot be read or decoded.",
    ),
    Sign(
        Category.LOADING,
        FailureKind.LOADER_ERROR,
        says(
            r"stack expects each tensor to be equal size",
            r"default_collate: batch must contain",
            r"each element in list of batch should be of equal size",
            r"Trying to resize storage that is not resizable",
        ),
        symptom="Samples of one batch have different sizes or types and cannot be stacked.",
        look="Sizes and modes of the batch's samples; pictures without three channels; the "
        "transforms that should make them equal.",
        do="Resize or pad in the transforms or a collate function, and convert every picture to "
        "one mode.",
    ),
    Sign(
        Category.LOADING,
        FailureKind.LOADER_ERROR,
        says(
            r"num_samples should be a positive integer",
            r"DataLoader` returned 0 length|Total length of `?DataLoader`? .*(?:is|was) zero",
            r"Found no valid file for the classes|Couldn't find any class folder",
        ),
        symptom="The data set is empty, or a split of it is.",
        look="The root, the split's name and the file extensions that are looked for.",
        do="Scan the data set: the numbers of samples by split are on its page.",
    ),
    Sign(
        Category.LOADING,
        FailureKind.LOADER_ERROR,
        says(
            r"Too many open files",
            r"received 0 items of ancdata",
            r"DataLoader timed out after|Stale file handle|Input/output error",
        ),
        symptom="The loader's processes run out of file handles, or the storage does not answer.",
        look="`ulimit -n`, the sharing strategy of torch.multiprocessing, the storage's logs.",
        do="Raise the limit, set the sharing strategy to file_system, or use fewer workers.",
    ),
    Sign(
        Category.MEMORY,
        FailureKind.WORKER_KILLED,
        says(
            r"DataLoader worker .* is killed by signal: (?:Killed|Bus error)",
            r"insufficient shared memory|Unexpected bus error encountered in worker",
        ),
        symptom="A worker of the loader was killed: the host or its shared memory is full.",
        look="Memory of the host and of /dev/shm, number of workers, the largest samples.",
        do="Use fewer workers or less prefetching, or give the container more shared memory.",
    ),
    Sign(
        Category.LOADING,
        FailureKind.WORKER_KILLED,
        says(
            r"DataLoader worker .*(?:is killed by signal|exited unexpectedly)",
            r"Pin memory thread exited unexpectedly",
        ),
        symptom="A worker of the loader died without a traceback, as a decoder's crash does.",
        look="The samples that were being read, by running once with no workers.",
        do="Scan the data set: each file is decoded in a process of its own.",
    ),
    Sign(
        Category.MEMORY,
        FailureKind.OUT_OF_MEMORY,
        says(
            r"out of memory|OutOfMemoryError",
            r"(?:CUBLAS|CUDNN)_STATUS_ALLOC_FAILED",
            r"DefaultCPUAllocator",
            r"\bMemoryError\b",
            r"Unable to allocate \S+ [KMGT]?i?B",
            r"Cannot allocate memory",
        ),
    ),
    Sign(
        Category.LEAKAGE,
        FailureKind.OTHER,
        says(
            r"\bdata leak(?:age)?\b",
            r"target leak(?:age)?\b",
            r"overlap\w* (?:between|of|in) .*\b(?:train|val|validation|test)\b.*"
            r"\b(?:train|val|validation|test)\b",
            r"\b(?:both|same) .*\btrain\w*\b.*\b(?:val|validation|test)\b.* (?:split|set)s?\b",
        ),
    ),
    Sign(
        Category.DRIFT,
        FailureKind.OTHER,
        says(
            r"\b(?:data(?:set)?|distribution|covariate|concept|feature|target) (?:drift|shift)\b",
            r"contains previously unseen labels",
            r"Found unknown categories",
        ),
    ),
    Sign(
        Category.INITIALISATION,
        FailureKind.OTHER,
        says(
            r"loading state_dict|(?:Missing|Unexpected) key\(s\) in state_dict",
            r"loaded state dict contains a parameter group|different number of parameter groups",
            r"PytorchStreamReader failed|Weights only load failed|invalid load key",
            r"deserialize object on (?:a )?CUDA device",
            r"not a valid model identifier|Can't load (?:the )?(?:model|tokenizer|config)",
            r"does not appear to have a file named|Error while deserializing header",
        ),
        symptom="A checkpoint or pretrained model does not fit, or its file is damaged.",
        look="The first key or file that is named, the size of the file, the code's version.",
        do="Load with the code that wrote it, copy the file again, or leave out the head's "
        "weights on purpose.",
    ),
    Sign(
        Category.INITIALISATION,
        FailureKind.OTHER,
        says(
            r"Expected all tensors to be on the same device",
            r"Input type \(.*\) and weight type \(.*\) should be the same",
            r"invalid device ordinal|no kernel image is available|Found no NVIDIA driver",
            r"Torch not compiled with CUDA|CUDA driver version is insufficient",
            r"No supported gpu backend|cuDNN version incompat|libcud\w+\.so",
        ),
        symptom="A device cannot be used, or model and data are on different ones.",
    ),
    Sign(
        Category.INITIALISATION,
        FailureKind.OTHER,
        says(
            r"Default process group has not been initialized",
            r"EADDRINUSE|address already in use",
            r"store.*(?:timed? ?out|timeout).*(?:clients joined|init)|init_process_group",
            r"ncclSystemError|ncclInvalidUsage|ncclUnhandledCudaError",
        ),
        symptom="The processes of the training cannot find or reach one another.",
        look="MASTER_ADDR and MASTER_PORT, leftover processes on that port, the network interface.",
        do="End leftover processes, choose another port, and run with NCCL_DEBUG=INFO.",
    ),
    Sign(
        Category.INITIALISATION,
        FailureKind.OTHER,
        says(
            r"optimizer got an empty parameter list",
            r"parameters appear in more than one parameter group",
            r"Fan in and fan out can not be computed",
            r"before Module\.__init__\(\) call",
            r"uninitialized parameter",
        ),
        symptom="The model or its optimizer is put together wrongly.",
        look="The constructor of the model, and what is handed to the optimizer.",
        do="Print the names of the parameters before the optimizer is made.",
    ),
    Sign(
        Category.CUT_OFF,
        FailureKind.OTHER,
        says(
            r"does not require grad and does not have a grad_fn",
            r"backward through the graph a second time",
            r"modified by an inplace operation",
            r"being used in an in-?place operation",
            r"appears to not have been used in the graph",
            r"can be implicitly created only for scalar outputs",
            r"can't optimize a non-leaf Tensor",
            r"Expected to have finished reduction in the prior iteration",
            r"Expected to mark a variable ready only once",
            r"No inf checks were recorded for this optimizer",
            r"None of the inputs have requires_grad",
            r"Can't call numpy\(\) on Tensor that requires grad",
        ),
    ),
    Sign(
        Category.GRADIENT,
        FailureKind.NON_FINITE_GRADIENT,
        says(
            r"Backward\w*'? returned nan values",
            r"total norm .*for gradients .*non-finite",
            r"Minimum loss scale reached|loss scale already at minimum",
            r"gradient (?:norm|overflow).*\b(?:nan|inf)|(?:nan|inf\w*) .*gradient",
            r"(?:exploding|vanishing) gradient",
        ),
    ),
    Sign(
        Category.LOADING,
        FailureKind.NON_FINITE_INPUT,
        says(
            r"Input (?:X |y )?contains (?:NaN|infinity)",
            r"(?:inputs?|features?|pixels?|batch) .*(?:contains?|has|have) (?:nan|inf)",
        ),
        symptom="Samples hold NaN or infinite values.",
    ),
    Sign(
        Category.GRADIENT,
        FailureKind.NON_FINITE_LOSS,
        says(
            r"loss (?:is|was|became|=|contained|returned in `?\w+`? is) (?:nan|inf|not fin)",
            r"loss .*\bis (?:nan|not finite|inf)|(?:nan|inf) loss",
            r"Detected nan and/or inf values",
            r"probability tensor contains either",
            r"to satisfy the constraint .*, but found invalid values",
            r"is not finite\. (?:Previous best|Signaling)",
            r"cannot convert float (?:NaN|infinity) to integer",
            r"FloatingPointError|ill-conditioned|svd.* failed to converge",
        ),
    ),
    Sign(
        Category.SHAPE,
        FailureKind.LABEL_ASSERT,
        says(
            r"Target -?\d+ is out of bounds",
            r"device-side assert",
            r"t >= 0 && t < n_classes|cur_target >= 0|srcIndex < srcSelectDimSize",
            r"index out of range in self",
            r"all elements of target should be between 0 and 1",
            r"Class values must be smaller than num_classes|labels? .*out of range",
        ),
        symptom="A label or an index is outside what the model was built for.",
        look="The labels of the batch, the number of classes or words, labels that mean "
        '"ignore"; on CUDA the true line only shows with CUDA_LAUNCH_BLOCKING=1.',
        do="Hold the samples whose labels are out of range, or make the last layer larger.",
    ),
    Sign(
        Category.PRECISION,
        FailureKind.OTHER,
        says(
            r"Tensor-likes are not (?:close|equal)",
            r"Not equal to tolerance",
            r"does not match the corresponding output of the Python function|TracingCheckError",
            r"max(?:imum)? absolute difference",
            r"cannot be converted to type .*without overflow",
            r"outside of (?:the )?(?:fp|float)16 range|accuracy drop|quantization error",
        ),
    ),
    Sign(
        Category.CONVERSION,
        FailureKind.OTHER,
        says(
            r"(?:torch\.)?onnx\.|onnxruntime|ONNX (?:opset|export)|to ONNX",
            r"torch\.jit|jit\.frontend|TorchScript|torch\.export|ExportError",
            r"_dynamo\.exc|BackendCompilerFailed|InductorError|data-dependent expression",
            r"convert function for op|\[TRT\]|tensorrt|coreml|openvino|tflite|litert",
            r"Tracer cannot infer type|can be output from traced functions",
        ),
    ),
    Sign(
        Category.RATE,
        FailureKind.OTHER,
        says(
            r"Invalid (?:learning rate|lr)\b|learning rate .*(?:too (?:high|large|low|small))",
            r"Tried to step \d+ times|Expected positive integer total_steps",
            r"'initial_lr' is not specified",
            r"compute suggestion for (?:the )?(?:learning rate|`?lr)",
            r"did not improve in the last|loss (?:is|was) not decreasing|training (?:has )?diverg",
        ),
    ),
    Sign(
        Category.SHAPE,
        FailureKind.SHAPE_MISMATCH,
        says(
            r"shapes cannot be multiplied|size mismatch|shape mismatch|mismatched shape",
            r"must match the (?:size|existing size)|Sizes of tensors must match",
            r"to match target batch_size|must be the same as input size",
            r"expected input\[.*\] to have \d+ channels",
            r"shape '.*' is invalid for input of size",
            r"Expected \d\S*(?: \(\w+\))?(?: or \d\S*)?.{0,12} (?:input|tensor)",
            r"Dimension out of range|multi-target not supported|einsum\(\)",
            r"could not (?:be )?broadcast|inhomogeneous shape",
            r"expected scalar type|must have the same dtype|expected m1 and m2 to have the same",
            r"one of the following scalar types|activate truncation and/or padding",
            r"Expected more than 1 value per channel|Kernel size can't be greater|"
            r"Calculated output size|too many indices|not enough values to unpack",
        ),
    ),
    Sign(
        Category.LOADING,
        FailureKind.LOADER_ERROR,
        says(r"FileNotFoundError|PermissionError|IsADirectoryError|No such file or directory"),
        symptom="A file that the training needs is not there or not readable.",
    ),
)
