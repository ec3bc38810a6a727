/** What thresholds compare with their limits. The names are those of the settings. */
export const MEASURES = ['turns', 'events', 'contentLength', 'tokens', 'idleSeconds', 'importantLength'] as const;

/** What a threshold compares, by the name of its setting; `branchEvents` only of a branch, `custom` for a condition in code. */
export const THRESHOLD_KINDS = [...MEASURES, 'branchEvents', 'custom'] as const;

/** How far a threshold is. */
export interface ThresholdState {
  /** What it compares, by the name of its setting; `branchEvents` only of a branch, `custom` for a condition in code. */
  readonly kind: (typeof THRESHOLD_KINDS)[number];
  /** Since the last summary. Missing for a condition in code. */
  readonly value?: number | undefined;
  /** The threshold is met above it. Missing for a condition in code. */
  readonly limit?: number | undefined;
  readonly isMet: boolean;
}

/** Whether a summary is due. */
export interface Dueness {
  /** Whether the thresholds are met, and there are more events than `keepRecentEvents`. `branchEvents` alone makes a branch due. */
  readonly isDue: boolean;
  readonly thresholds: readonly ThresholdState[];
}

/** When the next summary comes, and what it would replace. */
export interface SummaryOutlook extends Dueness {
  /** What a summary would cover if it was made now; missing if there is nothing to cover. */
  readonly wouldCover?: CoveredEvents | undefined;
}

/** The events that a summary replaces. */
export interface CoveredEvents {
  readonly fromSeq: number;
  readonly toSeq: number;
  /** How many of them are in the view now, without the present summary. */
  readonly events: number;
}
