import { type DoctorOptions, type DoctorProgress, checkStore } from './doctor.js';
import type { Finding, FindingCode } from './findings.js';

/** The result of a check. */
export interface Diagnosis extends DoctorProgress {
  /** Whether nothing is wrong that was not mended. Warnings do not count. */
  readonly isHealthy: boolean;
  /** The first findings. */
  readonly findings: readonly Finding[];
  /** How many findings there are, of each code. */
  readonly counts: Readonly<Partial<Record<FindingCode, number>>>;
  readonly errors: number;
  readonly warnings: number;
  readonly repaired: number;
}

/** Options of a diagnosis. */
export type DiagnoseOptions = DoctorOptions & {
  /** How many findings the result holds. All are counted. Default 1,000. */
  readonly maxFindings?: number | undefined;
};

const DEFAULT_FINDINGS = 1_000;

/**
 * Checks a store, and sums up what was found.
 *
 * @example
 * const { isHealthy, findings } = await diagnose({ sessions });
 * if (!isHealthy) console.error(findings);
 */
export async function diagnose({ maxFindings = DEFAULT_FINDINGS, ...options }: DiagnoseOptions): Promise<Diagnosis> {
  let progress: DoctorProgress = { sessions: 0, events: 0, entries: 0 };
  const onProgress = (now: DoctorProgress): void => {
    progress = now;
    options.onProgress?.(now);
  };
  const findings: Finding[] = [];
  const counts: Partial<Record<FindingCode, number>> = {};
  const sums = { errors: 0, warnings: 0, repaired: 0 };
  for await (const found of checkStore({ ...options, onProgress })) {
    if (findings.length < maxFindings) findings.push(found);
    counts[found.code] = (counts[found.code] ?? 0) + 1;
    if (found.repaired) sums.repaired++;
    else if (found.severity === 'error') sums.errors++;
    else sums.warnings++;
  }
  return { ...progress, ...sums, isHealthy: sums.errors === 0, findings, counts };
}
