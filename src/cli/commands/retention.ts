import type { KindCount } from '../../sessions/domain/retention/event-tally.js';
import { toErrorMessage } from '../../sessions/domain/errors/thrown-text.js';
import { SessionRetention } from '../../sessions/session-retention.js';
import type { CommandContext } from '../command-context.js';
import { EXIT } from '../failures.js';
import { readPolicy } from '../policy-file.js';

/** Removes what a policy does not keep, or counts it. Counted and not removed, it is a finding. */
export async function retention(
  context: CommandContext,
  { dryRun = false }: { readonly dryRun?: boolean | undefined },
  file: string,
): Promise<number> {
  const settings = await readPolicy(file);
  const sessions = await context.sessions();
  const policy = new SessionRetention({ ...settings, sessions });
  policy.start();
  const report = await policy.apply({
    dryRun,
    signal: context.signal,
    onError: (error) => context.output.note(`cannot be read: ${toErrorMessage(error)}`),
  });
  const { unreadable } = report;
  const counted = ({ due, removed }: KindCount): string => (dryRun ? `${due} due` : `removed ${removed} of ${due}`);
  const lines = report.rules.flatMap(({ rule, kinds = {}, ...count }) => [
    `${counted(count)}: ${JSON.stringify(rule)}`,
    ...Object.entries(kinds).map(([kind, ofKind]) => `  ${counted(ofKind)}: ${kind}`),
  ]);
  await context.output.result(
    [...lines, `${report.held} held`, ...(unreadable > 0 ? [`${unreadable} cannot be read`] : [])].join('\n'),
    report,
  );
  const isLeft = unreadable > 0 || report.rules.some(({ due, removed }) => due > removed);
  return isLeft ? EXIT.wrong : EXIT.done;
}
