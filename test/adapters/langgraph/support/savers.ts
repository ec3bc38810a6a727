import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { SessionService } from '../../../../src/index.js';
import { SessionSaver } from '../../../../src/adapters/langgraph/index.js';
import type { SessionStorage } from '../../../../src/storage.js';

/** Who calls the saver. */
export type Caller = 'one process' | 'a process for each call' | 'a wrapper';

export const CALLERS: readonly Caller[] = ['one process', 'a process for each call', 'a wrapper'];

/** Hands on what savers must have, and that late, as wrappers of others do. */
class Wrapper extends SessionSaver {
  override async put(
    ...[config, checkpoint, metadata]: Parameters<SessionSaver['put']>
  ): ReturnType<SessionSaver['put']> {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    return super.put({ configurable: config.configurable }, checkpoint, metadata);
  }
}

/** Gives the saver for the next call of a graph. */
export function saversOf(caller: Caller, storage: SessionStorage): () => BaseCheckpointSaver {
  const Saver = caller === 'a wrapper' ? Wrapper : SessionSaver;
  const open = () => new Saver({ sessions: new SessionService({ storage }), appName: 'judge' });
  const only = open();
  return caller === 'a process for each call' ? open : () => only;
}
