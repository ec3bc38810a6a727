import { type Clock, InMemorySessionStorage } from 'nestjs-agent-sessions';
import type { OpenStorage } from 'nestjs-agent-sessions/testing';

/** The store of a reader. */
export class PaperSessionStorage extends InMemorySessionStorage {
  constructor(_folder: string, clock: Clock) {
    super({ clock });
  }

  declare raw: OpenStorage['raw'];
}
