// Stands for real work; the due time is a variable, so a late run makes the same report.
console.log(`report for ${process.env.ROTA_DUE_AT}`)
