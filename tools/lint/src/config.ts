import boundaries from '@nx/eslint-plugin'
import typescriptParser from '@typescript-eslint/parser'
import type { Linter } from 'eslint'
import { sourceConstraints, testConstraints, type DependencyConstraint } from './layers.ts'
import { annotationHome } from './rules/annotation-home.ts'
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
          'package-imports': packageImports,
          'pure-code': pureCode,
        },
      },
    },
  },
  { files: source, ignores: tests, rules: boundaryRule(sourceConstraints) },
  { files: tests, rules: boundaryRule(testConstraints) },
  {
    files: ['libs/{core,model}/*/src/**/*.ts', '{apps,libs}/**/src/**/{desired,plan,render}.ts'],
    ignores: tests,
    rules: { 'kube-ovn/pure-code': 'error' },
  },
  {
    files: ['apps/*/src/**/*.ts', 'libs/*/*/src/**/*.ts'],
    ignores: [...tests, 'libs/model/annotations/**', 'libs/testing/**'],
    rules: { 'kube-ovn/annotation-home': 'error' },
  },
  {
    files: ['libs/features/*/src/**/*.ts'],
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

function boundaryRule(depConstraints: readonly DependencyConstraint[]): Linter.RulesRecord {
  return { '@nx/enforce-module-boundaries': ['error', { depConstraints, allow: [] }] }
}

function importRule(options: PackageImportsOptions): Linter.RulesRecord {
  return { 'kube-ovn/package-imports': ['error', options] }
}

function packagesOf(...tags: readonly string[]): readonly string[] {
  return workspacePackages()
    .filter((project) => project.tags.some((tag) => tags.includes(tag)))
    .map((project) => project.name)
}
