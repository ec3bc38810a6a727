import type { EventKind } from '../../../config/retention-settings.js';
import type { Part } from './content.js';
import type { Event } from './event.js';

/** The kind of a part of an event that is no summary. */
export function kindOfPart(part: Part): EventKind {
  if (part.thought) return 'reasoning';
  if (part.functionCall || part.toolCall || part.executableCode) return 'toolCalls';
  if (part.functionResponse || part.toolResponse || part.codeExecutionResult) return 'toolResults';
  return part.inlineData || part.fileData ? 'files' : 'messages';
}

/** The kinds of what an event says. What is no part goes with the parts: with the last of them. */
export function findEventKinds({ actions, content }: Pick<Event, 'actions' | 'content'>): ReadonlySet<EventKind> {
  if (actions.compaction ?? actions.branchSummary) return new Set(['summaries']);
  const parts = content?.parts ?? [];
  return new Set<EventKind>(parts.length > 0 ? parts.map(kindOfPart) : ['messages']);
}
