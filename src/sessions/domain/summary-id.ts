/** The id of a summary up to an event: one boundary has one summary, whoever writes it. */
export function summaryIdOf(toSeq: number): string {
  return `summary:${toSeq}`;
}
