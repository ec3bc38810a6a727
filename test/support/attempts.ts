/** Of a call that ends within a limit, so that a store that never recovers ends as well. */
const MOST_ATTEMPTS = 30;

/** Repeats a call until it succeeds; throws what it last ended with where that takes too many attempts. */
export async function untilItWorks<Result>(call: () => Promise<Result>, mostAttempts = MOST_ATTEMPTS): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (attempt === mostAttempts) throw error;
    }
  }
}
