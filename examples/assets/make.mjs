// Produces one partition of an asset; a real program would read and write data here.
console.log(`made ${process.env.ROTA_JOB} for ${process.env.ROTA_PARTITION}`)
