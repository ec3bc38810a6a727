import { listEventTexts } from '../../sessions/domain/event/event-inspection.js';
import type { Part } from '../../sessions/domain/event/content.js';
import { type EventInput, keepFilledInTimestamp } from '../../sessions/domain/event/event.js';
import { type Speaker, eventBy, formatSpeakerName } from '../../sessions/domain/event/open-calls.js';

/** What a speaker said in partial events only. */
interface UnfinishedAnswer extends Speaker {
  readonly parts: readonly Part[];
  /** The tokens that were reported last: each report includes those before it. */
  readonly usage: Pick<EventInput, 'usageMetadata' | 'modelVersion'>;
}

/** What partial events said, by speaker, until an event says it as a whole. */
export class UnfinishedAnswers {
  readonly #answers = new Map<string, UnfinishedAnswer>();

  copy(): UnfinishedAnswers {
    const copy = new UnfinishedAnswers();
    for (const [name, answer] of this.#answers) copy.#answers.set(name, answer);
    return copy;
  }

  /** Adds a partial event. */
  add(event: EventInput, speaker: Speaker): void {
    const { parts = [], usage = {} } = this.#answers.get(formatSpeakerName(speaker)) ?? {};
    const { usageMetadata, modelVersion } = event;
    this.#answers.set(formatSpeakerName(speaker), {
      ...speaker,
      parts: joinedPieces(parts, event.content?.parts ?? []),
      usage: {
        ...usage,
        ...(usageMetadata && { usageMetadata }),
        ...(modelVersion !== undefined && { modelVersion }),
      },
    });
  }

  /** The event, with the tokens of what it completes if it says something and has none itself. */
  withUsage(event: EventInput, speaker: Speaker): EventInput {
    if (event.usageMetadata || isSilent(event)) return event;
    const usage = this.#completedBy(event, speaker).find(([, answer]) => answer.usage.usageMetadata)?.[1].usage;
    if (!usage) return event;
    const counted = { ...event, ...usage, modelVersion: event.modelVersion ?? usage.modelVersion };
    keepFilledInTimestamp(event, counted);
    return counted;
  }

  /** An event completes what its speaker said. Tokens that it does not count are left for the next one, or for the end. */
  complete(event: EventInput, speaker: Speaker): void {
    const isCounted = event.usageMetadata || !isSilent(event);
    for (const [name, answer] of this.#completedBy(event, speaker)) {
      if (isCounted || !answer.usage.usageMetadata) this.#answers.delete(name);
      else this.#answers.set(name, { ...answer, parts: [] });
    }
  }

  /** What the speaker said, and the same text if another author or branch streamed it. */
  #completedBy(event: EventInput, speaker: Speaker): (readonly [name: string, answer: UnfinishedAnswer])[] {
    const said = listEventTexts(event).join('');
    return [...this.#answers].filter(
      ([name, { parts }]) =>
        name === formatSpeakerName(speaker) ||
        (said !== '' && listEventTexts({ content: { parts: [...parts] } }).join('') === said),
    );
  }

  /** An event for each speaker. Without text, only for those whose tokens have to be counted. */
  events(invocationId: string, { withText = true } = {}): EventInput[] {
    return [...this.#answers.values()].flatMap(({ parts, usage, ...speaker }) => {
      const said = withText ? parts.map(wellFormed) : [];
      if (said.length === 0 && !usage.usageMetadata) return [];
      const content = said.length > 0 && { content: { role: 'model', parts: said } };
      return [{ ...eventBy(speaker, invocationId), ...content, ...(usage.usageMetadata && usage) }];
    });
  }
}

function isSilent({ content }: EventInput): boolean {
  return (content?.parts ?? []).length === 0;
}

/** Text is joined with text, and thoughts with thoughts. Calls count in whole events only: their arguments may be incomplete. */
function joinedPieces(before: readonly Part[], after: readonly Part[]): Part[] {
  const joined = [...before];
  for (const part of after) {
    if (part.functionCall || part.functionResponse || isEmpty(part)) continue;
    const last = joined.at(-1);
    if (last && isPlainText(last) && typeof part.text === 'string' && isThought(last) === isThought(part)) {
      joined[joined.length - 1] = { ...part, text: `${last.text ?? ''}${part.text}` };
    } else joined.push(part);
  }
  return joined;
}

/** A signature or another field ends a text. */
function isPlainText(part: Part): boolean {
  return typeof part.text === 'string' && Object.keys(part).every((name) => name === 'text' || name === 'thought');
}

function isEmpty(part: Part): boolean {
  return isPlainText(part) ? part.text === '' : Object.keys(part).length === 0;
}

function isThought({ thought }: Part): boolean {
  return thought === true;
}

/** A piece may end within a character. */
function wellFormed(part: Part): Part {
  return typeof part.text === 'string' ? { ...part, text: part.text.toWellFormed() } : part;
}
