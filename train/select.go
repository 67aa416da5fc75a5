package train

type Selected struct{}
type Plan struct{}
