"""All experiments on splits, one after the other: python -m bench.split"""

from bench.split import error, excess, main, memory, times, truncation, weights

EXPERIMENTS = [module.EXPERIMENT for module in (error, excess, weights, truncation, memory, times)]

if __name__ == "__main__":
    main(*EXPERIMENTS)
