import boundaries from '@nx/eslint-plugin'
import typescriptParser from '@typescript-eslint/parser'
import type { Linter } from 'eslint'
import { sourceConstraints, testConstraints, type DependencyConstraint } from './layers.ts'
import { annotationHome } from './rules/annotation-home.ts'
import { ownFolder } from './rules/own-folder.ts'
import { packageImports, type PackageImportsOptions } from './rules/package-imports.ts'
import { pureCode } from './rules/pure-code.ts'
import { workspacePackages } from './workspace.ts'

const source = ['{apps,tools}/*/src/**/*.ts', 'libs/*/*/src/**/*.ts']
/** Tests, and what only tests import. */
const tests = ['**/*.test.ts', '**/*-fixture.ts', '{apps,tools}/*/src/testing/**', 'libs/*/*/src/testing/**']

/** typescript-eslint has types of its own for what ESLint calls a plug-in. */
const nxPlugin: object = boundaries

/** oxlint has all other rules; these two kinds it does not know, and ours are written for ESLint. */
export const config: Linter.Config[] = [
  { ignores: ['**/node_modules', '**/dist', '**/generated', '**/__golden__', '.lab', 'docs'] },
  {
    files: source,
    languageOptions: { parser: typescriptParser },
    linterOptions: { reportUnusedDisableDirectives: 'off' },
    plugins: {
      '@nx': nxPlugin,
      'kube-ovn': {
        rules: {
          'annotation-home': annotationHome,
          'own-folder': ownFolder,
          'package-imports': packageImports,
          'pure-code': pureCode,
        },
      },
    },
  },
  { files: source, ignores: tests, rules: boundaryRule(sourceConstraints) },
  { files: tests, rules: boundaryRule(testConstraints) },
  // The suite of a feature runs the whole controller, which has the feature. Unit tests do not: their results are kept for
  // as long as nothing changes that their package depends on, and the graph of projects leaves the harness out of that.
  {
    files: ['**/*.it.test.ts', '**/*.it-fixture.ts'],
    rules: boundaryRule(testConstraints, [['tag:plane:control', '@kube-ovn/testing-control']]),
  },
  {
    files: ['libs/{core,model}/*/src/**/*.ts', '{apps,libs}/**/src/**/{desired,plan,render}.ts'],
    ignores: tests,
    rules: { 'kube-ovn/pure-code': 'error' },
  },
  {
    files: controlSources('libs/domains/', 'libs/features/'),
    ignores: [...tests, '**/feature.ts'],
    rules: { 'kube-ovn/pure-code': 'error' },
  },
  { files: controlSources('libs/features/'), rules: { 'kube-ovn/own-folder': 'error' } },
  {
    files: ['apps/*/src/**/*.ts', 'libs/*/*/src/**/*.ts'],
    ignores: [...tests, 'libs/model/annotations/**', 'libs/testing/**'],
    rules: { 'kube-ovn/annotation-home': 'error' },
  },
  {
    files: ['libs/{domains,features}/*/src/**/*.ts'],
    ignores: tests,
    rules: importRule({
      typesOnly: packagesOf('layer:io'),
      forbidden: [],
      cure: 'a feature computes, the app hands it what acts',
    }),
  },
  {
    files: ['apps/cni/src/plugin/**/*.ts'],
    ignores: tests,
    rules: importRule({
      typesOnly: packagesOf('layer:model'),
      forbidden: packagesOf('layer:io', 'layer:runtime', 'layer:feature'),
      cure: 'the plugin has to start within milliseconds',
    }),
  },
]

function boundaryRule(
  depConstraints: readonly DependencyConstraint[],
  ignoredCircularDependencies: readonly (readonly [string, string])[] = [],
): Linter.RulesRecord {
  const options = { depConstraints, allow: [], ignoredCircularDependencies }
  return { '@nx/enforce-module-boundaries': ['error', options] }
}

function importRule(options: PackageImportsOptions): Linter.RulesRecord {
  return { 'kube-ovn/package-imports': ['error', options] }
}

/** Sources of the projects of the controller in some folders. */
function controlSources(...folders: readonly string[]): string[] {
  return workspacePackages()
    .filter(({ tags }) => tags.includes('plane:control'))
    .filter(({ directory }) => folders.some((folder) => directory.startsWith(folder)))
    .map(({ directory }) => `${directory}/src/**/*.ts`)
}

function packagesOf(...tags: readonly string[]): readonly string[] {
  return workspacePackages()
    .filter((project) => project.tags.some((tag) => tags.includes(tag)))
    .map((project) => project.name)
}
