"""Given and family names of several languages, common ones first, and syllables to coin others from."""


def several(text: str) -> list[str]:
    return text.split()


CHINESE = several(
    """
    wang zhang li liu chen yang zhao huang wu zhou xu sun ma zhu hu guo he lin gao luo zheng liang xie
    tang song han feng deng cao peng
    """
)
SYLLABLES = several(
    """
    wei yu jing lei jun xin hao yi ming jie bo tao ying hui yan peng xiang feng fei kai chao qi rui jian
    bin hong yun min zhi xiao ru shu yue meng zi han xue ning jia chen sheng wen long yuan shuai dan lu
    heng ke zhen ting
    """
)
KOREAN = several(
    """
    kim lee park choi jung kang cho yoon jang lim
    """
)
KOREAN_SYLLABLES = [
    "min",
    "seo",
    "ji",
    "hyun",
    "soo",
    "dong",
    "eun",
    "young",
    "tae",
    "jae",
    "woo",
    "hoon",
    "jin",
    "yeon",
    "won",
    "kyung",
    "sung",
    "hee",
    "chan",
    "joon",
]
WESTERN = several(
    """
    smith johnson brown taylor miller davis wilson moore clark lewis walker hall young king wright hill
    scott green adams baker carter cooper fisher foster graham
    """
)
WESTERN_GIVEN = several(
    """
    michael david daniel john thomas alexander andrew james christopher anna maria peter sarah emily
    laura julia robert william elizabeth matthew jonathan benjamin rachel katherine samuel
    """
)
INDIAN = [
    "kumar",
    "singh",
    "gupta",
    "sharma",
    "patel",
    "agarwal",
    "jain",
    "mehta",
    "reddy",
    "rao",
    "iyer",
    "nair",
    "das",
    "banerjee",
    "chatterjee",
]
INDIAN_GIVEN = [
    "rahul",
    "amit",
    "priya",
    "anjali",
    "sanjay",
    "vikram",
    "neha",
    "arjun",
    "deepak",
    "pooja",
    "rohan",
    "sneha",
    "karthik",
    "aditya",
    "meera",
]
SPANISH = several(
    """
    garcía martínez lópez gonzález rodríguez fernández pérez sánchez ramírez torres álvarez muñoz gómez
    díaz núñez
    """
)
SPANISH_GIVEN = [
    "josé",
    "ana",
    "maría",
    "luis",
    "carlos",
    "javier",
    "andrés",
    "sofía",
    "lucía",
    "raúl",
    "inés",
    "tomás",
    "mónica",
    "óscar",
    "adrián",
]
NORTHERN = several(
    """
    müller schröder jäger köhler krüger bäcker sørensen jørgensen åberg lindström höglund böhm günther
    weiß
    """
)
NORTHERN_GIVEN = [
    "jürgen",
    "björn",
    "sören",
    "käthe",
    "lars",
    "henrik",
    "ingrid",
    "matthias",
    "jörg",
    "günter",
    "annika",
    "stefan",
    "ulrike",
    "anders",
]
OPENINGS = several(
    """
    al ba bel bor car dan del dor fal gar hal jan kar kor lan mar mel nor ost par pet ros sal ser tal
    ter val ver vol zan
    """
)
ENDINGS = several(
    """
    anov berg dottir elli enko er escu ini ko ler man mann ner off oni ova owski sen skaya son stein ton
    vic ward wski yan zio
    """
)
CLOSINGS = several(
    """
    a an as el en eo i ia ian in ina io is ka la na ne o on ra ro sh ta us vi ya
    """
)
