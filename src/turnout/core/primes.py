"""Primes, for table sizes and walks."""


def is_prime(number: int) -> bool:
    """Whether `number` is prime, by trial division: fit for sizes of tables."""
    if number < 4:
        return number > 1
    if number % 2 == 0:
        return False
    divisor = 3
    while divisor * divisor <= number:
        if number % divisor == 0:
            return False
        divisor += 2
    return True


def least_prime(number: int) -> int:
    """The least prime that is not below `number`."""
    candidate = max(number, 2)
    while not is_prime(candidate):
        candidate += 1
    return candidate
