import fc from 'fast-check';
import type { GivenPart } from './model/entries.js';
import type { EventDraft } from './operations.js';
import { metadataDelta, rarely, someChanges, value } from './value-arbitraries.js';

const tool = fc.constantFrom({ id: 'c1', name: 'f' }, { id: 'c2', name: 'f' }, { name: 'g' }, { name: 'c1' });
const text = fc.constantFrom<GivenPart>({ text: 'hello' }, { text: '' }, { text: 'A\u030A' });
const call = tool.map((functionCall): GivenPart => ({ functionCall }));
const response = tool.map((functionResponse): GivenPart => ({ functionResponse }));
const message = fc.oneof(
  { weight: 5, arbitrary: fc.record({ author: fc.constantFrom('user', 'User'), parts: fc.tuple(text) }) },
  { weight: 3, arbitrary: fc.record({ author: fc.constant('agent'), parts: fc.array(text, { maxLength: 2 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({ author: fc.constant('agent'), parts: fc.array(call, { minLength: 1, maxLength: 2 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      author: fc.constantFrom('agent', 'user'),
      parts: fc.array(response, { minLength: 1, maxLength: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ author: fc.constant('system') }) },
);

export function eventDrafts(longestAge: number): fc.Arbitrary<EventDraft> {
  return fc
    .tuple(
      message,
      someChanges,
      fc.record({
        id: rarely(fc.constantFrom('e1', 'e2', '__proto__', 'e:{4}'), 5),
        partial: rarely(fc.constant(true as const), 20),
        metadata: rarely(metadataDelta, 4),
        customMetadata: rarely(value, 8),
        age: rarely(fc.integer({ min: -longestAge, max: longestAge }), 4),
        asked: rarely(fc.tuple(fc.nat(50), fc.nat(20), fc.nat(50)), 3),
        inSeconds: fc.nat({ max: 3 }).map((rarity) => rarity === 0),
      }),
    )
    .map(([fields, changed, rest]) => ({ ...fields, ...changed, ...rest }));
}
