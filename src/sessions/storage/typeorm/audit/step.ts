import type { StoreProblem } from '../../store-audit.js';

/** A step examines rows with higher keys than this one. */
export interface StepRequest {
  readonly after: number;
  readonly limit: number;
  readonly repair: boolean;
}

/** What a step found, and the highest key that it examined; missing if there are no more rows. */
export interface StepResult {
  readonly problems: readonly StoreProblem[];
  readonly examined: number;
  readonly last?: number | undefined;
}
