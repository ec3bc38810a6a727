import type { ExplainedEvent, ViewExplanation } from '../operations/explain-view.js';
import type { ViewDifference } from '../domain/event/request-difference.js';
import { VIEW_REASONS } from '../domain/view/view-reason.js';
import { ranges } from './request-shapes.js';
import { type Fields, choice, flag, integer, listOf, one, optional, shape, text } from './shape.js';

const EVENT_EXAMPLE: ExplainedEvent = {
  seq: 1,
  id: 'e-1',
  author: 'user',
  inView: false,
  reason: 'summarised',
  by: 40,
  tokens: 12,
};

const VIEW_EXAMPLE = { events: 20, tokens: 5_300, isTruncated: false };

const EXPLAINED_EVENT = shape<ExplainedEvent>('ExplainedEvent', {
  description: 'Why an event is in the view, or not.',
  example: EVENT_EXAMPLE,
  fields: {
    seq: integer('The place in the log, counted from 1.', { minimum: 1 }),
    id: text(),
    author: optional(text()),
    inView: flag('Whether it is in the view.'),
    reason: choice(
      { name: 'ViewReason', description: 'Why an event is in a view, or not.', values: VIEW_REASONS },
      'Why it is in the view, or not.',
    ),
    by: optional(
      integer(
        'The event that decided: the summary, the rewind, the tool response, or the one with which the view begins.',
      ),
    ),
    tokens: integer('An estimate of what it costs as input of a model.'),
  },
});

const VIEW_CHANGE = shape<ViewDifference>('ViewChange', {
  description: 'Which events a view has otherwise than an earlier one.',
  example: { seq: 40, stableUntilSeq: 40, added: [[41, 60]], removed: [] },
  fields: {
    seq: integer('The last event at the time of the other view.'),
    stableUntilSeq: integer('With which event the beginning ends that both have in common; 0 for none.'),
    added: ranges('The events that only this one has.'),
    removed: ranges('The events that only the other one had.'),
  },
});

const EXPLAINED_VIEW = shape<ViewExplanation['view']>('ExplainedView', {
  description: 'A view as a whole.',
  example: VIEW_EXAMPLE,
  fields: {
    events: integer('Events in the view.'),
    tokens: integer('An estimate of what they cost as input of a model.'),
    isTruncated: flag('Whether events are left out because they would not fit.'),
    stableUntilSeq: optional(
      integer(
        'With which event the beginning ends that the view has in common with what a model was given last; 0 for none. Missing if none of the last 200 events says what its model was given.',
      ),
    ),
    change: optional(one(VIEW_CHANGE, 'What changed since the view of `since`.')),
  },
});

export const VIEW_EXPLANATION = shape<ViewExplanation>('ViewExplanation', {
  items: 'events',
  graphqlName: 'ExplainedEventConnection',
  description: 'A page of the log, and for each event why it is in the view, or not.',
  example: { events: [EVENT_EXAMPLE], view: VIEW_EXAMPLE, firstSeq: 1, lastSeq: 60, nextCursor: 'WyJ…' },
  fields: {
    events: listOf(EXPLAINED_EVENT),
    view: one(EXPLAINED_VIEW, 'The whole view, not only of this page.'),
    firstSeq: integer('The first event that is kept.', { minimum: 1 }),
    lastSeq: integer('The last event of the log.'),
    nextCursor: optional(text('The cursor of the next page; missing on the last page.')),
  },
});

/** Which view and which events are explained. */
export const EXPLAINED_RANGE: Fields = {
  atSeq: optional(integer('Explains the view as it was when this event was the last one. Default: as it is now.')),
  since: optional(integer('Compares with the view as it was when this event was the last one.')),
  fromSeq: optional(integer('The first event to explain.')),
  toSeq: optional(integer('The last event to explain.')),
};
