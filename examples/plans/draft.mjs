// A step of a pipeline: the params of the run come as a variable.
const { topic_seed: topic = 'nothing' } = JSON.parse(process.env.PIPELINE_PARAMS_JSON)
console.log(`a draft about ${topic}`)
