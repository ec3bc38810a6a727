// Runs a check that loads everything with `require`.
const check = require(process.argv[2]);
void check(async (name) => require(name));
