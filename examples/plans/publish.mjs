// The second step: the results of earlier steps are in an environment variable, too.
const { draft } = JSON.parse(process.env.PIPELINE_RESULTS_JSON)
console.log(`published "${draft.stdout}" as ${process.env.ROTA_RUN_ID}, attempt ${process.env.ROTA_ATTEMPT}`)
