#include "textflag.h"

// All kernels end in VZEROUPPER: registers left dirty in their upper halves
// make all SSE code that follows several times slower.

// FMA4 adds to four accumulators the products of one vector with four.
#define FMA4(y, x0, x1, x2, x3, s0, s1, s2, s3) \
	VFMADD231PS y, x0, s0 \
	VFMADD231PS y, x1, s1 \
	VFMADD231PS y, x2, s2 \
	VFMADD231PS y, x3, s3

// FOLD4 adds up four accumulators crosswise: each 128 bits of s0 then hold four
// partial sums, one of each. It overwrites t0 and t1.
#define FOLD4(s0, s1, s2, s3, t0, t1) \
	VUNPCKLPS s1, s0, t0 \
	VUNPCKHPS s1, s0, t1 \
	VADDPS    t0, t1, s0 \
	VUNPCKLPS s3, s2, t0 \
	VUNPCKHPS s3, s2, t1 \
	VADDPS    t0, t1, s2 \
	VUNPCKLPD s2, s0, t0 \
	VUNPCKHPD s2, s0, t1 \
	VADDPS    t0, t1, s0

// STORE512 adds the four quarters of a folded accumulator and stores the four
// sums at DI, which it moves on by R8. It overwrites Z2 and Z3.
#define STORE512(z, y, x) \
	VEXTRACTF64X4 $1, z, Y2   \
	VADDPS        Y2, y, Y2   \
	VEXTRACTF128  $1, Y2, X3  \
	VADDPS        X3, X2, X2  \
	VMOVUPS       X2, (DI)    \
	ADDQ          R8, DI

// func tile512(a, b *float32, stride, groups int, out *float32, ld int)
// The products of 4 rows of a with 6 rows of b; groups of 16 numbers, distances
// in bytes.
TEXT ·tile512(SB), NOSPLIT, $0-48
	MOVQ a+0(FP), AX
	MOVQ b+8(FP), BX
	MOVQ stride+16(FP), CX
	MOVQ groups+24(FP), SI
	MOVQ out+32(FP), DI
	MOVQ ld+40(FP), R8
	LEAQ (CX)(CX*2), DX
	LEAQ (BX)(DX*1), R9
	VPXORD Z0, Z0, Z0
	VMOVAPS Z0, Z1
	VMOVAPS Z0, Z2
	VMOVAPS Z0, Z3
	VMOVAPS Z0, Z4
	VMOVAPS Z0, Z5
	VMOVAPS Z0, Z6
	VMOVAPS Z0, Z7
	VMOVAPS Z0, Z8
	VMOVAPS Z0, Z9
	VMOVAPS Z0, Z10
	VMOVAPS Z0, Z11
	VMOVAPS Z0, Z12
	VMOVAPS Z0, Z13
	VMOVAPS Z0, Z14
	VMOVAPS Z0, Z15
	VMOVAPS Z0, Z16
	VMOVAPS Z0, Z17
	VMOVAPS Z0, Z18
	VMOVAPS Z0, Z19
	VMOVAPS Z0, Z20
	VMOVAPS Z0, Z21
	VMOVAPS Z0, Z22
	VMOVAPS Z0, Z23

loop:
	VMOVUPS (AX), Z24
	VMOVUPS (AX)(CX*1), Z25
	VMOVUPS (AX)(CX*2), Z26
	VMOVUPS (AX)(DX*1), Z27
	VMOVUPS (BX), Z28
	VMOVUPS (BX)(CX*1), Z29
	VMOVUPS (BX)(CX*2), Z30
	VMOVUPS (R9), Z31
	FMA4(Z28, Z24, Z25, Z26, Z27, Z0, Z1, Z2, Z3)
	VMOVUPS (R9)(CX*1), Z28
	FMA4(Z29, Z24, Z25, Z26, Z27, Z4, Z5, Z6, Z7)
	VMOVUPS (R9)(CX*2), Z29
	FMA4(Z30, Z24, Z25, Z26, Z27, Z8, Z9, Z10, Z11)
	ADDQ $64, AX
	ADDQ $64, BX
	FMA4(Z31, Z24, Z25, Z26, Z27, Z12, Z13, Z14, Z15)
	ADDQ $64, R9
	FMA4(Z28, Z24, Z25, Z26, Z27, Z16, Z17, Z18, Z19)
	FMA4(Z29, Z24, Z25, Z26, Z27, Z20, Z21, Z22, Z23)
	DECQ SI
	JNZ  loop

	FOLD4(Z0, Z1, Z2, Z3, Z24, Z25)
	FOLD4(Z4, Z5, Z6, Z7, Z26, Z27)
	FOLD4(Z8, Z9, Z10, Z11, Z24, Z25)
	FOLD4(Z12, Z13, Z14, Z15, Z26, Z27)
	FOLD4(Z16, Z17, Z18, Z19, Z24, Z25)
	FOLD4(Z20, Z21, Z22, Z23, Z26, Z27)
	STORE512(Z0, Y0, X0)
	STORE512(Z4, Y4, X4)
	STORE512(Z8, Y8, X8)
	STORE512(Z12, Y12, X12)
	STORE512(Z16, Y16, X16)
	STORE512(Z20, Y20, X20)
	VZEROUPPER
	RET

// SUM512 stores the sum of an accumulator at DI, which it moves on by R8.
#define SUM512(z, y, x) \
	VEXTRACTF64X4 $1, z, Y8   \
	VADDPS        Y8, y, Y9   \
	VEXTRACTF128  $1, Y9, X8  \
	VADDPS        X8, X9, X9  \
	VHADDPS       X9, X9, X9  \
	VHADDPS       X9, X9, X9  \
	VMOVSS        X9, (DI)    \
	ADDQ          R8, DI

// func line512(a, b *float32, stride, groups int, out *float32, ld int)
// The products of 1 row of a with 6 rows of b, like tile512.
TEXT ·line512(SB), NOSPLIT, $0-48
	MOVQ a+0(FP), AX
	MOVQ b+8(FP), BX
	MOVQ stride+16(FP), CX
	MOVQ groups+24(FP), SI
	MOVQ out+32(FP), DI
	MOVQ ld+40(FP), R8
	LEAQ (CX)(CX*2), DX
	LEAQ (BX)(DX*1), R9
	VPXORD Z0, Z0, Z0
	VMOVAPS Z0, Z1
	VMOVAPS Z0, Z2
	VMOVAPS Z0, Z3
	VMOVAPS Z0, Z4
	VMOVAPS Z0, Z5

loop:
	VMOVUPS (AX), Z6
	VFMADD231PS (BX), Z6, Z0
	VFMADD231PS (BX)(CX*1), Z6, Z1
	VFMADD231PS (BX)(CX*2), Z6, Z2
	VFMADD231PS (R9), Z6, Z3
	VFMADD231PS (R9)(CX*1), Z6, Z4
	VFMADD231PS (R9)(CX*2), Z6, Z5
	ADDQ $64, AX
	ADDQ $64, BX
	ADDQ $64, R9
	DECQ SI
	JNZ  loop

	SUM512(Z0, Y0, X0)
	SUM512(Z1, Y1, X1)
	SUM512(Z2, Y2, X2)
	SUM512(Z3, Y3, X3)
	SUM512(Z4, Y4, X4)
	SUM512(Z5, Y5, X5)
	VZEROUPPER
	RET

// func above512(products, floors *float32, groups, step int) (group int, mask uint)
// The first group of 16 products of which some reach their floors, and which.
// The floors of a group are step bytes after those of the one before.
TEXT ·above512(SB), NOSPLIT, $0-48
	MOVQ products+0(FP), AX
	MOVQ floors+8(FP), BX
	MOVQ groups+16(FP), CX
	MOVQ step+24(FP), DX
	XORQ SI, SI
	XORQ R8, R8

loop:
	CMPQ SI, CX
	JGE  done
	VMOVUPS (AX), Z0
	VCMPPS  $13, (BX), Z0, K1 // greater or equal, false for NaN
	KMOVW   K1, R8
	TESTL   R8, R8
	JNE     done
	ADDQ    $64, AX
	ADDQ    DX, BX
	INCQ    SI
	JMP     loop

done:
	MOVQ SI, group+32(FP)
	MOVQ R8, mask+40(FP)
	VZEROUPPER
	RET

// STORE256 adds the halves of a folded accumulator and stores the four sums at
// DI, which it moves on by R8.
#define STORE256(y, x) \
	VEXTRACTF128 $1, y, X15   \
	VADDPS       X15, x, x    \
	VMOVUPS      x, (DI)      \
	ADDQ         R8, DI

// ROW256 adds to three accumulators the products of the vector at an address
// with Y12, Y13 and Y14.
#define ROW256(mem, s0, s1, s2) \
	VMOVUPS     mem, Y15     \
	VFMADD231PS Y12, Y15, s0 \
	VFMADD231PS Y13, Y15, s1 \
	VFMADD231PS Y14, Y15, s2

// func tile256(a, b *float32, stride, groups int, out *float32, ld int)
// The products of 4 rows of a with 3 rows of b; groups of 8 numbers, distances
// in bytes.
TEXT ·tile256(SB), NOSPLIT, $0-48
	MOVQ a+0(FP), AX
	MOVQ b+8(FP), BX
	MOVQ stride+16(FP), CX
	MOVQ groups+24(FP), SI
	MOVQ out+32(FP), DI
	MOVQ ld+40(FP), R8
	LEAQ (CX)(CX*2), DX
	VXORPS Y0, Y0, Y0
	VMOVAPS Y0, Y1
	VMOVAPS Y0, Y2
	VMOVAPS Y0, Y3
	VMOVAPS Y0, Y4
	VMOVAPS Y0, Y5
	VMOVAPS Y0, Y6
	VMOVAPS Y0, Y7
	VMOVAPS Y0, Y8
	VMOVAPS Y0, Y9
	VMOVAPS Y0, Y10
	VMOVAPS Y0, Y11

loop:
	VMOVUPS (BX), Y12
	VMOVUPS (BX)(CX*1), Y13
	VMOVUPS (BX)(CX*2), Y14
	ROW256((AX), Y0, Y4, Y8)
	ROW256((AX)(CX*1), Y1, Y5, Y9)
	ROW256((AX)(CX*2), Y2, Y6, Y10)
	ROW256((AX)(DX*1), Y3, Y7, Y11)
	ADDQ $32, AX
	ADDQ $32, BX
	DECQ SI
	JNZ  loop

	FOLD4(Y0, Y1, Y2, Y3, Y12, Y13)
	FOLD4(Y4, Y5, Y6, Y7, Y12, Y13)
	FOLD4(Y8, Y9, Y10, Y11, Y12, Y13)
	STORE256(Y0, X0)
	STORE256(Y4, X4)
	STORE256(Y8, X8)
	VZEROUPPER
	RET

// SUM256 stores the sum of an accumulator at DI, which it moves on by R8.
#define SUM256(y, x) \
	VEXTRACTF128 $1, y, X8   \
	VADDPS       X8, x, X9   \
	VHADDPS      X9, X9, X9  \
	VHADDPS      X9, X9, X9  \
	VMOVSS       X9, (DI)    \
	ADDQ         R8, DI

// func line256(a, b *float32, stride, groups int, out *float32, ld int)
// The products of 1 row of a with 6 rows of b, like tile256.
TEXT ·line256(SB), NOSPLIT, $0-48
	MOVQ a+0(FP), AX
	MOVQ b+8(FP), BX
	MOVQ stride+16(FP), CX
	MOVQ groups+24(FP), SI
	MOVQ out+32(FP), DI
	MOVQ ld+40(FP), R8
	LEAQ (CX)(CX*2), DX
	LEAQ (BX)(DX*1), R9
	VXORPS Y0, Y0, Y0
	VMOVAPS Y0, Y1
	VMOVAPS Y0, Y2
	VMOVAPS Y0, Y3
	VMOVAPS Y0, Y4
	VMOVAPS Y0, Y5

loop:
	VMOVUPS (AX), Y6
	VFMADD231PS (BX), Y6, Y0
	VFMADD231PS (BX)(CX*1), Y6, Y1
	VFMADD231PS (BX)(CX*2), Y6, Y2
	VFMADD231PS (R9), Y6, Y3
	VFMADD231PS (R9)(CX*1), Y6, Y4
	VFMADD231PS (R9)(CX*2), Y6, Y5
	ADDQ $32, AX
	ADDQ $32, BX
	ADDQ $32, R9
	DECQ SI
	JNZ  loop

	SUM256(Y0, X0)
	SUM256(Y1, X1)
	SUM256(Y2, X2)
	SUM256(Y3, X3)
	SUM256(Y4, X4)
	SUM256(Y5, X5)
	VZEROUPPER
	RET

// func square256(x *float32, groups int) float32
// The sum of the squares of groups of 16 numbers.
TEXT ·square256(SB), NOSPLIT, $0-20
	MOVQ x+0(FP), AX
	MOVQ groups+8(FP), CX
	VXORPS Y0, Y0, Y0
	VMOVAPS Y0, Y1
	VMOVAPS Y0, Y2
	VMOVAPS Y0, Y3
	TESTQ $1, CX
	JEQ  even
	VMOVUPS (AX), Y4
	VMOVUPS 32(AX), Y5
	VFMADD231PS Y4, Y4, Y0
	VFMADD231PS Y5, Y5, Y1
	ADDQ $64, AX

even:
	SHRQ $1, CX
	JEQ  sum

loop:
	VMOVUPS (AX), Y4
	VMOVUPS 32(AX), Y5
	VMOVUPS 64(AX), Y6
	VMOVUPS 96(AX), Y7
	VFMADD231PS Y4, Y4, Y0
	VFMADD231PS Y5, Y5, Y1
	VFMADD231PS Y6, Y6, Y2
	VFMADD231PS Y7, Y7, Y3
	ADDQ $128, AX
	DECQ CX
	JNZ  loop

sum:
	VADDPS Y1, Y0, Y0
	VADDPS Y3, Y2, Y2
	VADDPS Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS X1, X0, X0
	VHADDPS X0, X0, X0
	VHADDPS X0, X0, X0
	VMOVSS X0, ret+16(FP)
	VZEROUPPER
	RET

// func dot256(x, y *float32, groups int, sums *[8]float64)
// Sum j is that of the products at j, j+8, j+16, …: groups of them, at least
// one. Products are exact in float64, so that a multiply-add rounds like Go's
// product and sum.
TEXT ·dot256(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), AX
	MOVQ y+8(FP), BX
	MOVQ groups+16(FP), CX
	MOVQ sums+24(FP), DI
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1

loop:
	VCVTPS2PD (AX), Y2
	VCVTPS2PD 16(AX), Y3
	VCVTPS2PD (BX), Y4
	VCVTPS2PD 16(BX), Y5
	VFMADD231PD Y2, Y4, Y0
	VFMADD231PD Y3, Y5, Y1
	ADDQ $32, AX
	ADDQ $32, BX
	DECQ CX
	JNZ  loop

	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VZEROUPPER
	RET

// func above256(products, floors *float32, groups, step int) (group int, mask uint)
// Like above512.
TEXT ·above256(SB), NOSPLIT, $0-48
	MOVQ products+0(FP), AX
	MOVQ floors+8(FP), BX
	MOVQ groups+16(FP), CX
	MOVQ step+24(FP), DX
	XORQ SI, SI
	XORQ R8, R8

loop:
	CMPQ SI, CX
	JGE  done
	VMOVUPS (AX), Y0
	VMOVUPS 32(AX), Y1
	VCMPPS  $13, (BX), Y0, Y0
	VCMPPS  $13, 32(BX), Y1, Y1
	VMOVMSKPS Y0, R8
	VMOVMSKPS Y1, R9
	SHLQ    $8, R9
	ORQ     R9, R8
	JNE     done
	ADDQ    $64, AX
	ADDQ    DX, BX
	INCQ    SI
	JMP     loop

done:
	MOVQ SI, group+32(FP)
	MOVQ R8, mask+40(FP)
	VZEROUPPER
	RET
