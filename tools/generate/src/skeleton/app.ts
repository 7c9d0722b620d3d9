import type { Name } from './name.ts'
import { insertAfter, type ListEdit, type Skeleton } from './skeleton.ts'

/** A program that reads its settings, logs that it runs, and ends. */
export function appSkeleton(name: Name): Skeleton {
  const folder = `apps/${name.kebab}`
  return {
    files: {
      [`${folder}/package.json`]: manifest(name),
      [`${folder}/README.md`]: `# @kube-ovn/${name.kebab}\n\nSays that it runs, and where.\n`,
      [`${folder}/src/main.ts`]: main(name),
      [`${folder}/src/config.ts`]: config(name),
      [`${folder}/src/config.test.ts`]: configTest(),
    },
    edits: [
      insertAfter(
        'tools/images/src/programs.ts',
        /^const bundles = \{\n/m,
        `  '${name.kebab}.mjs': '${folder}/src/main.ts',\n`,
      ),
      lock(folder),
    ],
    links: [{ from: folder, name: '@kube-ovn/process', to: 'libs/runtime/process' }],
  }
}

/** What pnpm would write: the installation that the next command begins with takes nothing else. */
function lock(folder: string): ListEdit {
  const entry = `  ${folder}:
    dependencies:
      '@kube-ovn/process':
        specifier: workspace:*
        version: link:../../libs/runtime/process
`
  return {
    path: 'pnpm-lock.yaml',
    edit(text) {
      const importers = [...text.matchAll(/^ {2}(apps\/[^:\n]+|libs\/[^:\n]+):/gm)]
      const next = importers.find(([, path = '']) => path > folder)
      return next === undefined ? text : `${text.slice(0, next.index)}${entry}\n${text.slice(next.index)}`
    },
  }
}

function manifest({ kebab }: Name): string {
  return JSON.stringify({
    name: `@kube-ovn/${kebab}`,
    version: '0.1.0',
    private: true,
    type: 'module',
    license: 'Apache-2.0',
    nx: { tags: ['layer:app', 'plane:control'] },
    dependencies: { '@kube-ovn/process': 'workspace:*' },
  })
}

function main({ kebab }: Name): string {
  return `/** Says that it runs, and where. */
import { createLogger, processConfig } from '@kube-ovn/process'
import { command } from './config.ts'

const { podNamespace: namespace, v } = processConfig(command)
createLogger({ app: '${kebab}', verbosity: v }).info('runs', { namespace })
`
}

function config({ kebab }: Name): string {
  return `import { text } from '@kube-ovn/process'
import type { Command } from '@kube-ovn/process'

const settings = {
  podNamespace: text('kube-system', 'Namespace that it runs in.', {
    environment: 'POD_NAMESPACE',
    isEnvironmentOnly: true,
  }),
} as const

export const command: Command<typeof settings> = {
  name: '${kebab}',
  summary: 'Says that it runs, and where.',
  examples: ['POD_NAMESPACE=network ${kebab}'],
  settings,
}
`
}

function configTest(): string {
  return `import { readConfig } from '@kube-ovn/process'
import { expect, it } from 'vitest'
import { command } from './config.ts'

it('reads what its pod sets', () => {
  expect(readConfig(command, [], { POD_NAMESPACE: 'network' })).toMatchObject({
    config: { podNamespace: 'network' },
  })
})
`
}
