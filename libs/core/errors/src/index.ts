export { errorCode } from './error-code.ts'
export { KubeOvnError, refusalOf, type Refused, type RetryClass } from './kube-ovn-error.ts'
export { lineOf, listText, problemText } from './problem-text.ts'
export { shortened } from './shortened.ts'
