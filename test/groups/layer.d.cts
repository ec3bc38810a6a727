declare const layer: {
  /** The layer that `LAYER` names; without it, as with `npx jest`, everything runs and nothing is said. */
  readonly name: 'fast' | 'full' | undefined;
  readonly isFast: boolean;
  /** Specs or folders that only the full layer runs, as paths below `test`, by the reason. */
  readonly FULL_ONLY: Readonly<Record<string, readonly string[]>>;
  /** Whether this run has the spec. */
  has(spec: string, isFast?: boolean): boolean;
  /** What the run prints: its layer, and what it leaves to the other. */
  lines(layer?: 'fast' | 'full'): readonly string[];
};

export = layer;
