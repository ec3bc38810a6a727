import type { Build, JudgedRun } from './judged-run.js';
import { interruptScenarios } from './interrupt-scenarios.js';
import { runScenarios } from './run-scenarios.js';
import { subgraphScenarios } from './subgraph-scenarios.js';
import { travelScenarios } from './travel-scenarios.js';

/** A graph, and what somebody does with it. */
export interface Scenario {
  readonly title: string;
  readonly build: Build;
  play(run: JudgedRun): Promise<void>;
}

export const scenarios: readonly Scenario[] = [
  ...runScenarios,
  ...interruptScenarios,
  ...subgraphScenarios,
  ...travelScenarios,
];
