import { WorkGate } from '../../src/sessions/consumers/work-gate.js';

const LONG_MS = 60_000;

describe('WorkGate', () => {
  let opened: number;
  let gate: WorkGate;

  beforeEach(() => {
    opened = 0;
    gate = new WorkGate(() => (opened += 1));
  });

  it('lets one suspect begin beside any number of usual sessions', async () => {
    expect(await gate.enter('usual', LONG_MS)).toBe('allowed');
    expect(await gate.enter('suspect', LONG_MS)).toBe('allowed');
    expect(await gate.enter('usual', LONG_MS)).toBe('allowed');
    expect([await gate.enter('suspect', LONG_MS), await gate.enter('alone', LONG_MS)]).toEqual(['taken', 'taken']);
    expect([gate.isOpen, opened]).toEqual([true, 0]);
    gate.leave('suspect');
    expect(opened).toBe(1);
    expect(await gate.enter('suspect', LONG_MS)).toBe('allowed');
  });

  it('keeps a session alone: it waits until the others have ended, and nothing begins before it has', async () => {
    await gate.enter('usual', LONG_MS);
    await gate.enter('usual', LONG_MS);
    const entering = gate.enter('alone', LONG_MS);
    expect(gate.isOpen).toBe(false);
    gate.leave('usual');
    gate.leave('usual');
    expect([await gate.enter('usual', LONG_MS), await entering]).toEqual(['taken', 'allowed']);
    expect(gate.isOpen).toBe(false);
    gate.leave('alone');
    expect([gate.isOpen, opened, await gate.enter('usual', LONG_MS)]).toEqual([true, 1, 'allowed']);
  });

  it('goes on with the others if they do not end in time', async () => {
    await gate.enter('usual', LONG_MS);
    expect(await gate.enter('alone', 1)).toBe('busy');
    expect([gate.isOpen, opened]).toEqual([true, 1]);
    gate.leave('usual');
    expect(await gate.enter('alone', LONG_MS)).toBe('allowed');
  });
});
