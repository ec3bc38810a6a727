import { QuotaExceededError } from '../../src/index.js';

/** The refusals of works that have ended. Whatever else failed fails the test. */
export function refusalsOf(ends: readonly PromiseSettledResult<unknown>[]): QuotaExceededError[] {
  const reasons = ends.flatMap((end): unknown[] => (end.status === 'rejected' ? [end.reason] : []));
  for (const reason of reasons) expect(reason).toBeInstanceOf(QuotaExceededError);
  return reasons as QuotaExceededError[];
}

/** Whether no quota refuses it. */
export async function isAccepted(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (error instanceof QuotaExceededError) return false;
    throw error;
  }
}
