/** How a config may be written. */
export const formats = ['yaml', 'json', 'mjs', 'ts'] as const

/** One of them. */
export type Format = (typeof formats)[number]

/** What a new config depends on. */
export interface Answers {
  readonly format: Format
  readonly store: string
  readonly cron: string
  readonly timezone: string
}

/** The text of a small config that runs as it is. */
export function configText(answers: Answers): string {
  switch (answers.format) {
    case 'yaml':
      return yamlText(answers)
    case 'json':
      return jsonText(answers)
    case 'mjs':
      return codeText(answers, 'run')
    case 'ts':
      return codeText(answers, 'run: { attempt: number; log(text: string): void }')
  }
}

/** JSON texts are YAML and JavaScript too, so that nothing in an answer can break out of its quotes. */
function quoted(text: string): string {
  return JSON.stringify(text)
}

function yamlText({ store, cron, timezone }: Answers): string {
  return `# What there is to do, and when. \`rota up\` starts it, \`rota runs\` lists what ran.
store: ${quoted(store)}

jobs:
  hello:
    # A command is run word by word, without a shell.
    command: [node, -e, "console.log('hello from rota')"]
    retry: { attempts: 3, delay: 1s }
    timeout: 1m

triggers:
  hello:
    job: hello
    cron: ${quoted(cron)}
    timezone: ${quoted(timezone)}
`
}

function jsonText({ store, cron, timezone }: Answers): string {
  const config = {
    store,
    jobs: {
      hello: {
        command: ['node', '-e', "console.log('hello from rota')"],
        retry: { attempts: 3, delay: '1s' },
        timeout: '1m',
      },
    },
    triggers: { hello: { job: 'hello', cron, timezone } },
  }
  return `${JSON.stringify(config, null, 2)}\n`
}

function codeText({ store, cron, timezone }: Answers, parameter: string): string {
  return `// What there is to do, and when. \`rota up\` starts it, \`rota runs\` lists what ran.
export default {
  store: ${quoted(store)},
  jobs: {
    hello: {
      handler: async (${parameter}) => {
        run.log(\`hello from rota, attempt \${run.attempt}\`)
      },
      retry: { attempts: 3, delay: '1s' },
      timeout: '1m',
    },
  },
  triggers: {
    hello: { job: 'hello', cron: ${quoted(cron)}, timezone: ${quoted(timezone)} },
  },
}
`
}
