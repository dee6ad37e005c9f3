// Start this directory with `rota up`, kill it, wait, and start it again: every due time gets its run.
// The due time is a variable, so that a late run writes the same report.
console.log(`report for ${process.env.ROTA_DUE_AT}`)
