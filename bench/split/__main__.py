"""All experiments on splits, one after the other: python -m bench.split"""

from bench.split import command_of, error, excess, memory, relative, times, truncation, weights

EXPERIMENTS = [
    module.EXPERIMENT for module in (error, excess, weights, truncation, relative, memory, times)
]

if __name__ == "__main__":
    command_of(*EXPERIMENTS)()
