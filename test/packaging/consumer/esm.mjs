// Runs a check that loads everything with `import`.
const { default: check } = await import(process.argv[2]);
await check((name) => import(name));
