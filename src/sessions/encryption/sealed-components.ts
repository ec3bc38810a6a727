import {
  type ComponentPlace,
  type ComponentWrite,
  type ComponentWriteOutcome,
  EMPTY_DIGEST,
  type StoredComponent,
  sessionOfComponents,
} from '../domain/stored/component.js';
import type { ComponentStore } from '../storage/component-store.js';
import type { TextOwner, TextPlace } from './sealed-text.js';
import { toUserOwner } from './sealed-writes.js';
import type { Open, Sealing, OwnerCipher } from './owner-cipher.js';

/** Encrypts the texts of components, and what tells whether they differ. */
export class SealedComponents implements ComponentStore {
  constructor(
    private readonly store: ComponentStore,
    private readonly cipher: OwnerCipher,
    /** Whether what is stored may be older than the encryption. */
    private readonly allowPlain: boolean,
  ) {}

  async read(place: ComponentPlace, part?: 'head'): Promise<StoredComponent | undefined> {
    const found = await this.store.read(place, part);
    return found && this.cipher.opened((open) => openedComponent(found, place, open));
  }

  async write(write: ComponentWrite): Promise<ComponentWriteOutcome> {
    const sealed = sealedWrite(write, await this.cipher.sealing([findTextOwner(write.place)]));
    const outcome = await this.store.write(sealed);
    if (outcome.kind === 'written' || !this.allowPlain || write.keep === 0) return outcome;
    return this.store.write({ ...sealed, keptDigest: write.keptDigest });
  }

  remove(session: string, name?: string): Promise<void> {
    return this.store.remove(session, name);
  }

  places(session: string): ReturnType<ComponentStore['places']> {
    return this.store.places(session);
  }

  sessions(request: Parameters<ComponentStore['sessions']>[0]): Promise<string[]> {
    return this.store.sessions(request);
  }

  purgeExpired(limit: number): Promise<number> {
    return this.store.purgeExpired(limit);
  }

  async close(): Promise<void> {
    await this.store.close?.();
  }
}

/** A name that the app chose belongs to nobody. */
function findTextOwner({ session }: ComponentPlace): TextOwner {
  const key = sessionOfComponents(session);
  return key ? toUserOwner(key) : {};
}

function sealedWrite(write: ComponentWrite, { seal, sealEqually }: Sealing): ComponentWrite {
  const { place } = write;
  const owner = findTextOwner(place);
  const digestOf = (digest: string): string =>
    digest === EMPTY_DIGEST
      ? EMPTY_DIGEST
      : sealEqually(owner, toComponentTextPlace('digest of a component', place), digest);
  return {
    ...write,
    texts: write.texts.map((text) => seal(owner, toComponentTextPlace('component', place), text)),
    keptDigest: digestOf(write.keptDigest),
    digest: digestOf(write.digest),
  };
}

function openedComponent(found: StoredComponent, place: ComponentPlace, open: Open): StoredComponent {
  const owner = findTextOwner(place);
  const { digest } = found;
  return {
    ...found,
    texts: found.texts.map((text) => open(owner, toComponentTextPlace('component', place), text)),
    digest:
      digest === EMPTY_DIGEST ? digest : open(owner, toComponentTextPlace('digest of a component', place), digest),
  };
}

function toComponentTextPlace(field: string, { session, name, kind }: ComponentPlace): TextPlace {
  return { field, id: JSON.stringify([session, kind, name]) };
}
