import { DEFAULT_LIMITS } from '../../src/config/session-settings.js';
import {
  beginsWithEntries,
  entriesOfBoth,
  keepsEntries,
  ruleFilter,
} from '../../src/sessions/domain/metadata/rule-filter.js';
import { type SessionFilter, filterEntries } from '../../src/sessions/domain/metadata/session-filter.js';
import { describeWrite } from '../../src/sessions/domain/write/write-description.js';
import { type AccessAnswer, SessionAccess, accessByRole } from '../../src/sessions/rest/index.js';

const entriesIn = (filter: SessionFilter) => filterEntries(filter, 'filter', DEFAULT_LIMITS);
const NORTH = entriesIn({ labels: { team: 'north' } });

const deltaOf = (metadataDelta: unknown) => describeWrite({ event: { author: 'user', actions: { metadataDelta } } });

const rule = (answer: AccessAnswer, mayWrite = false): SessionAccess =>
  new (class extends SessionAccess {
    allows = (): AccessAnswer => answer;
    override allowsWrite = (): boolean => mayWrite;
    override allowsServerState = (): boolean => mayWrite;
  })();

describe('two filters together', () => {
  it.each<[SessionFilter, SessionFilter, SessionFilter]>([
    [{ labels: { team: 'north' } }, { status: 'open' }, { labels: { team: 'north' }, status: 'open' }],
    [{ labels: { team: 'north' } }, {}, { labels: { team: 'north' } }],
    [{ tags: ['a', 'b'] }, { tags: ['b', 'c'] }, { tags: ['a', 'b', 'c'] }],
    [
      { labels: { team: 'north' } },
      { labels: { team: 'north', region: 'eu' } },
      { labels: { team: 'north', region: 'eu' } },
    ],
  ])('%j and %j ask for all of it', (one, other, both) => {
    expect(entriesOfBoth(entriesIn(one), entriesIn(other))).toEqual(entriesIn(both));
    expect(entriesOfBoth(entriesIn(other), entriesIn(one))).toEqual(entriesIn(both));
  });

  it.each<[SessionFilter, SessionFilter]>([
    [{ labels: { team: 'north' } }, { labels: { team: 'south' } }],
    [{ status: 'open' }, { status: 'closed', tags: ['vip'] }],
  ])('%j and %j match nothing', (one, other) => {
    expect(entriesOfBoth(entriesIn(one), entriesIn(other))).toBeUndefined();
  });
});

describe('the filter of a rule', () => {
  it('is a copy, so that a rule can use its object again', () => {
    const labels = { team: 'north' };
    const { filter } = ruleFilter({ labels }, 'filter', DEFAULT_LIMITS);
    labels.team = 'south';
    expect(filter).toEqual({ labels: { team: 'north' } });
  });

  it.each([
    [{}, 'asks for nothing'],
    [{ tags: [] }, 'asks for nothing'],
    [{ labels: {} }, 'asks for nothing'],
    [{ labels: { team: undefined } }, 'is undefined'],
    [{ labels: { team: null } }, 'is null'],
    [{ labels: { team: 'north' }, status: undefined }, 'is undefined'],
    [{ tags: [undefined] }, 'tags[0]'],
    [{ lables: { team: 'north' } }, 'is no field of metadata'],
    [{ labels: { team: 7 } }, 'labels.team'],
    [new Map([['team', 'north']]), 'must be a plain object'],
    [{ tags: Array.from({ length: 17 }, (_, index) => `t${index}`) }, 'at most 16 entries'],
  ])('%p is refused', (filter, problem) => {
    expect(() => ruleFilter(filter, 'filter', DEFAULT_LIMITS)).toThrow(problem);
  });
});

describe('a write of metadata', () => {
  it.each([
    [{ labels: { team: 'north', region: 'eu' }, tags: { add: ['vip'] }, status: 'open', title: 'Refund' }, true],
    [{ labels: { team: 'south' } }, false],
    [{ labels: { team: null } }, false],
    [{ labels: ['team'] }, true],
  ])('%j keeps the label of the team: %p', (delta, isKept) => {
    expect(keepsEntries(deltaOf(delta).metadata, NORTH)).toBe(isKept);
  });

  it.each([
    [{ status: 'closed' }, { status: 'open' }],
    [{ status: null }, { status: 'open' }],
    [{ tags: { remove: ['vip'] } }, { tags: ['vip'] }],
  ])('%j does not keep %j', (delta, filter) => {
    expect(keepsEntries(deltaOf(delta).metadata, entriesIn(filter))).toBe(false);
  });

  it('is that of all events of a batch', () => {
    const events = ['south', 'north'].map((team) => ({ actions: { metadataDelta: { labels: { team } } } }));
    expect(keepsEntries(describeWrite({ events }).metadata, NORTH)).toBe(false);
  });

  it.each([
    [{ labels: { team: 'north' }, tags: ['vip'], status: 'open' }, true],
    [{ labels: { team: 'south' } }, false],
    [{ labels: { 'x\n"y"\nlabel:team': 'north' } }, false],
    [undefined, false],
    [{ tags: ['label:team'] }, false],
  ])('%j begins a session of the team: %p', (metadata, isOfTeam) => {
    expect(beginsWithEntries(describeWrite({ metadata }).metadata, NORTH)).toBe(isOfTeam);
  });
});

describe('several roles of a user', () => {
  const [north, south] = [{ labels: { team: 'north' } }, { labels: { team: 'south' } }];

  it.each([
    { what: 'true goes before a filter', rules: [rule(north), rule(true)], action: 'read', answer: true },
    { what: 'a filter goes before false', rules: [rule(false), rule(north)], action: 'list', answer: north },
    { what: 'the first filter counts', rules: [rule(south), rule(north)], action: 'read', answer: south },
    {
      what: 'a write is in the filter that allows it',
      rules: [rule(true), rule(north, true)],
      action: 'write',
      answer: north,
    },
    {
      what: 'a filter that allows no write does not count',
      rules: [rule(south), rule(north, true)],
      action: 'write',
      answer: north,
    },
    {
      what: 'true that allows it goes first',
      rules: [rule(north, true), rule(true, true)],
      action: 'write',
      answer: true,
    },
  ] as const)('$what', async ({ rules, action, answer }) => {
    const access = accessByRole({ roles: { a: rules[0], b: rules[1] } });
    const user = { id: 'u', roles: ['a', 'b'] };
    const asked = { user, action, target: 'session', appName: 'shop', request: {} } as const;
    expect(await access.allows(asked)).toEqual(answer);
    if (action !== 'write') return;
    expect(await access.allowsWrite(asked)).toBe(true);
    expect(await access.allowsServerState(asked)).toBe(true);
  });

  it('do not lend the writes in a filter to sessions beyond it', async () => {
    const access = accessByRole({ roles: { reader: rule(true), north: rule(north, true), all: rule(true, false) } });
    const asked = { action: 'write', target: 'session', appName: 'shop', request: {} } as const;
    const user = { id: 'u', roles: ['reader', 'north'] };
    // What may be written is only what the filter matches.
    expect([await access.allows({ ...asked, user }), await access.allowsWrite({ ...asked, user })]).toEqual([
      north,
      true,
    ]);
    const reader = { id: 'u', roles: ['reader', 'all'] };
    expect(await access.allowsWrite({ ...asked, user: reader })).toBe(false);
  });
});
