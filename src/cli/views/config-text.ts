/** The formats of a config. */
export const formats = ['yaml', 'json', 'mjs', 'ts'] as const

/** One of the formats. */
export type Format = (typeof formats)[number]

/** The settings of a new config. */
export interface Answers {
  readonly format: Format
  /** The name of the app, which does not change if the directory is renamed. */
  readonly app: string
  readonly store: string
  readonly cron: string
  readonly timezone: string
}

/** The text of a small config that runs unchanged; code imports this package only if it is installed. */
export function configText(answers: Answers, hasPackage: boolean): string {
  switch (answers.format) {
    case 'yaml':
      return yamlText(answers)
    case 'json':
      return jsonText(answers)
    case 'mjs':
      return codeText(answers, { hasPackage, parameter: 'run' })
    case 'ts':
      return codeText(answers, {
        hasPackage,
        parameter: hasPackage ? 'run' : 'run: { attempt: number; log(text: string): void }',
      })
  }
}

const packageName = 'rota'

/** The schema of configs, for editors. */
const schema = `./node_modules/${packageName}/dist/rota.config.schema.json`

/** JSON strings are also valid YAML and JavaScript, so no answer can break out of its quotes. */
function quoted(text: string): string {
  return JSON.stringify(text)
}

function yamlText({ app, store, cron, timezone }: Answers): string {
  return `# yaml-language-server: $schema=${schema}
# What there is to do, and when. \`rota up\` starts it, \`rota runs\` lists what ran.
app: ${quoted(app)}
store: ${quoted(store)}
# The zone of every schedule that names none.
timezone: ${quoted(timezone)}

jobs:
  hello:
    cron: ${quoted(cron)}
    # A command is run word by word, without a shell.
    command: [node, -e, "console.log('hello from rota')"]
    retry: { attempts: 3, delay: 1s }
    timeout: 1m
`
}

function jsonText({ app, store, cron, timezone }: Answers): string {
  const config = {
    $schema: schema,
    app,
    store,
    timezone,
    jobs: {
      hello: {
        cron,
        command: ['node', '-e', "console.log('hello from rota')"],
        retry: { attempts: 3, delay: '1s' },
        timeout: '1m',
      },
    },
  }
  return `${JSON.stringify(config, null, 2)}\n`
}

function codeText(
  { app, store, cron, timezone }: Answers,
  { hasPackage, parameter }: { readonly hasPackage: boolean; readonly parameter: string },
): string {
  const [before, open, close] = hasPackage
    ? [`import { defineConfig } from ${quoted(packageName)}\n\n`, 'defineConfig({', '})']
    : ['', '{', '}']
  return `${before}// What there is to do, and when. \`rota up\` starts it, \`rota runs\` lists what ran.
export default ${open}
  app: ${quoted(app)},
  store: ${quoted(store)},
  timezone: ${quoted(timezone)},
  jobs: {
    hello: {
      cron: ${quoted(cron)},
      handler: async (${parameter}) => {
        run.log(\`hello from rota, attempt \${run.attempt}\`)
      },
      retry: { attempts: 3, delay: '1s' },
      timeout: '1m',
    },
  },
${close}
`
}
