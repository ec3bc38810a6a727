/** Waits for `work`; rejects with the error of `onTimeout` if it takes too long. */
export async function withTimeout<Result>(
  timeoutMs: number,
  work: Promise<Result>,
  onTimeout: () => Error,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(onTimeout()), timeoutMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
