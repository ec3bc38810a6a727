import { InMemorySessionStorage } from 'nestjs-agent-sessions';
import type { Clock } from 'nestjs-agent-sessions/storage';
import type { OpenStorage } from 'nestjs-agent-sessions/testing';

/** The store of a reader. */
export class PaperSessionStorage extends InMemorySessionStorage {
  constructor(_folder: string, clock: Clock) {
    super({ clock });
  }

  declare raw: OpenStorage['raw'];
}
