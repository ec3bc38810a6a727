import { LlmAgent, LogLevel, Runner, createEvent, setLogLevel } from '@google/adk';
import { AdkSessionService } from '../../../../src/adapters/adk/index.js';
import type { SessionKey } from '../../../../src/sessions/domain/values/ids.js';
import type { SessionService } from '../../../../src/sessions/session.service.js';
import { collected } from './collected.js';
import { ScriptedLlm, calls, message, says } from './scripted-llm.js';

/** What a process does with ADK. */
export interface AdkTask {
  /** Its own sessions. */
  readonly keys: readonly SessionKey[];
  readonly writer: string;
  /** Appends to each session, or messages to run in turns. */
  readonly count: number;
  readonly kind: 'appends' | 'turns';
}

/** Appends as a runner does, or runs an agent in turns. */
export async function runAdk(sessions: SessionService, { keys, writer, count, kind }: AdkTask): Promise<void> {
  setLogLevel(LogLevel.ERROR);
  const adk = new AdkSessionService({ sessions });
  const work = kind === 'appends' ? appendAll : runAll;
  await Promise.all(keys.map((key, index) => work(adk, key, `${writer}-${index}`, count)));
}

async function appendAll(adk: AdkSessionService, key: SessionKey, writer: string, count: number): Promise<void> {
  const session = await adk.getOrCreateSession(key);
  for (let number = 1; number <= count; number++) {
    const event = createEvent({
      id: `${writer}-${number}`,
      author: 'support',
      invocationId: writer,
      content: says(`${writer} says ${number}`).content,
      actions: { stateDelta: { [`user:${writer}-${number}`]: number, [`${writer}-${number}`]: number, last: writer } },
    });
    await adk.appendEvent({ session, event });
  }
}

async function runAll(adk: AdkSessionService, key: SessionKey, writer: string, count: number): Promise<void> {
  await adk.getOrCreateSession(key);
  for (let number = 1; number <= count; number++) {
    const model = new ScriptedLlm(calls('none', {}, `c-${writer}-${number}`), says(`${writer} answered ${number}`));
    const agent = new LlmAgent({ name: 'support', model });
    const runner = new Runner({ appName: key.appName, agent, sessionService: adk });
    const newMessage = message(`${writer} asks ${number}`);
    const { userId, sessionId } = key;
    await collected(adk.runInTurn(runner, { userId, sessionId, newMessage, waitMs: 60_000 }));
  }
}
