console.log(`newsletter ${process.env.ROTA_RUN_ID} sent`)
