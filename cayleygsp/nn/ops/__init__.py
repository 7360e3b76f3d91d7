"""Operations of the layers on tensors, with their gradients, on the CPU and on other devices."""
