import { AgentRequest, toMessages } from '../../src/agents/index.js';
import { Event, type EventInput, type LoggedEvent } from '../../src/index.js';

function logOf(...events: EventInput[]): LoggedEvent[] {
  return events.map((event, index) => Object.assign(new Event(event), { seq: index + 1 }));
}

const says = (author: string, text: string): EventInput => ({
  author,
  content: { role: author === 'user' ? 'user' : 'model', parts: [{ text }] },
});
const calls = (id: string): EventInput => ({
  author: 'agent',
  content: { role: 'model', parts: [{ functionCall: { id, name: 'f' } }] },
});
const answers = (id: string): EventInput => ({
  author: 'agent',
  content: { role: 'user', parts: [{ functionResponse: { id, name: 'f', response: { ok: true } } }] },
});
const clock = { now: (): number => 0 };
const turn = (id: string): EventInput[] => [says('user', 'x'.repeat(400)), calls(id), answers(id)];

describe('the request of an agent', () => {
  it('was given the events of which its messages say something', () => {
    const history = logOf(
      says('user', 'one'),
      { author: 'agent', actions: { stateDelta: { step: 1 } } },
      calls('c'),
      says('other', 'in between'),
      answers('c'),
      { ...says('agent', 'elsewhere'), branch: 'root.b' },
    );
    const { events } = new AgentRequest(history, { format: 'openai', branch: 'root.a' }, clock);
    expect(events.map(({ seq }) => seq)).toEqual([1, 3, 4, 5]);
  });

  it('was given a call and its answer, or none of both, within a budget', () => {
    const history = logOf(...turn('a'), ...turn('b'), ...turn('c'));
    const { events } = new AgentRequest(history, { format: 'anthropic', tokenBudget: 250 }, clock);
    expect(events.map(({ seq }) => seq)).toEqual([4, 5, 6, 7, 8, 9]);
  });

  it('has the messages that its events alone make: what a budget dropped leaves no trace', () => {
    const history = logOf(...turn('c'), ...turn('c'));
    const whole = new AgentRequest(history, { format: 'openai', tokenBudget: 1_000 }, clock);
    expect(whole.answered({}).modelRequest).toEqual({ given: [[1, 6]], durationMs: 0 });
    const cut = new AgentRequest(history, { format: 'openai', tokenBudget: 150 }, clock);
    expect(cut.answered({}).modelRequest).toEqual({ given: [[4, 6]], durationMs: 0 });
    expect(cut.messages).toEqual(toMessages(history.slice(3), { format: 'openai' }));
    // After another call of its id, the second one would have got a new id.
    expect(cut.messages).not.toEqual(toMessages(history, { format: 'openai', tokenBudget: 150 }));
  });

  it('lasts from the question to the answer, and never less than no time', () => {
    let time = 5;
    const request = new AgentRequest([], {}, { now: () => time });
    time = 12;
    expect(request.answered({}).modelRequest?.durationMs).toBe(7);
    time = 1;
    expect(request.answered({}).modelRequest?.durationMs).toBe(0);
  });

  it('changes no partial event, and keeps a time that a constructor filled in', () => {
    const request = new AgentRequest([], { instructions: 'Be brief.' }, clock);
    const piece = { partial: true };
    expect(request.answered(piece)).toBe(piece);
    expect(request.answered({ author: 'agent' })).toEqual({
      author: 'agent',
      modelRequest: { given: [], instructions: 'Be brief.', durationMs: 0 },
    });
  });
});
