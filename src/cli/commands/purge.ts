import type { CommandContext } from '../command-context.js';

/** Removes what has expired. */
export async function purge(
  context: CommandContext,
  { batch }: { readonly batch?: number | undefined },
): Promise<void> {
  const service = await context.sessions();
  const removed = await service.purgeExpired({ batchSize: batch, signal: context.signal });
  const { sessions, userStates, appStates } = removed;
  const text = `removed ${sessions} sessions, the state of ${userStates} users and of ${appStates} apps`;
  await context.output.result(text, removed);
}
