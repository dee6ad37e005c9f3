import { namedFile } from '../../formats/named-file.js'
import type { UpExtension } from '../up-extension.js'
import type { Plans } from './api.js'

/** `rota up --plan`: performs the entries of plan files. */
export const planOption: UpExtension<{ readonly plans: Plans }> = {
  options: [
    {
      name: 'plan',
      value: 'file',
      help: 'perform the entries of this plan too',
      isList: true,
      completes: 'file',
    },
  ],
  read: ({ args, directory }) => {
    const files = args
      .list('plan')
      .map((path) => namedFile(directory, { holder: '--plan', path, code: 'PLAN_INVALID' }))
    if (files.length === 0) return undefined
    return {
      define: ({ plans }) => files.forEach((file) => plans.add(file)),
      program: { option: '--plan', files },
    }
  },
}
