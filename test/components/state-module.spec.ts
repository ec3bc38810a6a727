import {
  ComponentConflictError,
  ComponentManager,
  ComponentNotFoundError,
  ComponentSession,
  InMemoryComponentStore,
  Saved,
  SavedList,
  StateModuleOf,
} from '../../src/components/index.js';

class Agent extends StateModuleOf('agent') {
  @Saved() mood = 'calm';
  @Saved() plan: { step: number } | null = null;
  @SavedList() messages: string[] = [];
  notSaved = 0;
}

class Expert extends Agent {
  @Saved() subject = 'none';
}

function open(): ComponentSession {
  return new ComponentSession({ store: new InMemoryComponentStore() });
}

describe('A state module', () => {
  it('saves and loads its own fields and those of the class it extends', async () => {
    const components = open();
    const saved = Object.assign(new Expert(), {
      mood: 'wild',
      plan: { step: 2 },
      subject: 'tea',
      messages: ['a'],
      notSaved: 9,
    });
    await saved.saveTo(components, 's');
    const loaded = new Expert();
    await loaded.loadFrom(components, 's');
    expect({ ...loaded }).toEqual({ mood: 'wild', plan: { step: 2 }, subject: 'tea', messages: ['a'], notSaved: 0 });
  });

  it('says what is missing, or false', async () => {
    const agent = Object.assign(new Agent(), { mood: 'mine' });
    await expect(agent.loadFrom(open(), 's')).rejects.toThrow(ComponentNotFoundError);
    expect([await agent.loadIfExists(open(), 's'), agent.mood]).toEqual([false, 'mine']);
  });

  it('keeps fields that were saved before they were there', async () => {
    const components = open();
    await new Agent().saveTo(components, 's');
    const expert = Object.assign(new Expert(), { subject: 'default' });
    await expert.loadFrom(components, 's');
    expect(expert.subject).toBe('default');
  });

  it('overwrites, fails or merges when two objects changed', async () => {
    const components = open();
    await Object.assign(new Agent(), { messages: ['a'] }).saveTo(components, 's');
    const [one, two] = [new Agent(), new Agent()];
    for (const agent of [one, two]) await agent.loadFrom(components, 's');
    one.messages.push('one');
    two.messages.push('two');
    await one.saveTo(components, 's', { onConflict: 'fail' });
    await expect(two.saveTo(components, 's', { onConflict: 'fail' })).rejects.toThrow(ComponentConflictError);
    await two.saveTo(components, 's', { onConflict: 'append-merge' });
    expect(await components.getList('s', 'agent.messages')).toEqual(['a', 'one', 'two']);
    one.mood = 'wild';
    await one.saveTo(components, 's', { onConflict: 'append-merge' });
    two.mood = 'sad';
    await expect(two.saveTo(components, 's', { onConflict: 'append-merge' })).rejects.toThrow(ComponentConflictError);
    await two.saveTo(components, 's');
    expect(await components.get('s', 'agent')).toMatchObject({ mood: 'sad' });
  });
});

describe('A component manager', () => {
  it('saves, loads and deletes several components together', async () => {
    const components = open();
    const agent = Object.assign(new Agent(), { mood: 'wild' });
    const manager = ComponentManager.forSession('s').in(components).add(agent);
    expect([await manager.exists(), await manager.saveIfExists(), await manager.loadIfExists()]).toEqual([
      false,
      false,
      false,
    ]);
    await expect(manager.load()).rejects.toThrow(ComponentNotFoundError);
    await manager.save();
    class Memory extends StateModuleOf('memory') {
      @Saved() facts = ['unchanged'];
    }
    const [other, memory] = [new Agent(), new Memory()];
    await ComponentManager.forSession('s').in(components).add(other, memory).load();
    expect([other.mood, memory.facts]).toEqual(['wild', ['unchanged']]);
    await manager.delete();
    await expect(manager.delete()).rejects.toThrow(ComponentNotFoundError);
    expect(await manager.deleteIfExists()).toBe(false);
  });

  it('says what it lacks', async () => {
    await expect(async () => ComponentManager.forSession('s').save()).rejects.toThrow('in(components)');
    expect(() => ComponentManager.forSession('')).toThrow('session');
    expect(() => ComponentManager.forSession('s').add({} as Agent)).toThrow('modules[0]');
  });
});
