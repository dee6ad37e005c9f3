// A step of a pipeline: the params of the run are in an environment variable.
const { topic_seed: topic = 'nothing' } = JSON.parse(process.env.PIPELINE_PARAMS_JSON)
console.log(`a draft about ${topic}`)
